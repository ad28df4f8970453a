import fs from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { attempt } from '../../../lib/attempt.ts';
import { sumOf } from './folders.ts';

const PARTIAL = 206;

/**
 * Fetches a file whose SHA-256 is known. What an interrupted download has left is kept beside it, as `.part`, and the
 * next one goes on from there.
 */
export async function download(
  url: string,
  file: string,
  sha256: string,
  signal: AbortSignal,
): Promise<void> {
  if (fs.existsSync(file) && sumOf(file) === sha256) return;
  const part = `${file}.part`;
  const from = attempt(() => fs.statSync(part).size) ?? 0;
  const response = await fetch(url, { signal, headers: from > 0 ? { range: `bytes=${from}-` } : {} });
  // 416: the part is already all of it.
  if (response.ok && response.body) {
    const flags = response.status === PARTIAL ? 'a' : 'w';
    await pipeline(Readable.fromWeb(response.body), fs.createWriteStream(part, { flags }), { signal });
  } else if (response.status !== 416) {
    throw new Error(`${url} answers ${response.status}`);
  }
  const sum = sumOf(part);
  if (sum !== sha256) {
    fs.rmSync(part);
    throw new Error(`${url} has the checksum ${sum}, and should have ${sha256}; nothing of it was kept`);
  }
  fs.renameSync(part, file);
}

/** Fetches the checksum of a file, from a list or a file with nothing else. */
export async function checksumOf(url: string, name: string, signal: AbortSignal): Promise<string> {
  const sum = sumIn(await checksumsAt(url, signal), name);
  if (sum === undefined) throw new Error(`${url} has no SHA-256 of ${name}`);
  return sum;
}

export async function checksumsAt(url: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return response.text();
}

/** Returns the checksum of a file in a list in the format of sha256sum(1), or the only one that there is. */
export function sumIn(sums: string, name: string): string | undefined {
  const lines = sums.trim().split('\n');
  const alone = lines.length === 1 && !/\s/.test(lines[0] ?? '');
  const line = alone ? lines[0] : lines.find((each) => each.split(/[ *]+/)[1] === name);
  const sum = line?.split(' ')[0] ?? '';
  return /^[0-9a-f]{64}$/.test(sum) ? sum : undefined;
}
