import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { attempt } from '../../../src/lib/errors.ts';
import { lockFile } from '../../../src/lib/file-lock.ts';
import { hasKwok, KWOK, missingPrograms, PROGRAMS, SUMS, sumOf, wholeFolder, writeSums } from './folders.ts';

const PARTIAL = 206;

/**
 * Fetches a file whose SHA-256 is known. What an interrupted download has left is kept beside it, as `.part`, and the
 * next one goes on from there.
 */
export async function download(url: string, file: string, sha256: string, signal: AbortSignal): Promise<void> {
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

/** Serves every version of Kubernetes that this product offers. */
const ETCD_VERSION = 'v3.6.8';
const ARCHITECTURES: Record<string, string> = { x64: 'amd64', arm64: 'arm64' };

export interface Sources {
  /** Where the releases of Kubernetes are. */
  kubernetesUrl: string;
  /** Where those of etcd are. */
  etcdUrl: string;
  /** A kwok on this machine, for the nodes. */
  kwok?: string | undefined;
  /**
   * A folder on this machine, or the address of one, that is like the one an installation makes: with a folder of the
   * version, or the version's programs themselves. Instead of the releases.
   */
  from?: string | undefined;
}

interface Reporting {
  say: (line: string) => void;
  signal: AbortSignal;
}

export const ABOUT_KWOK =
  'kwok plays the nodes: without it, clusters have an API and no nodes. "go install sigs.k8s.io/kwok/cmd/kwok@v0.7.0" makes it as ~/go/bin/kwok, and https://github.com/kubernetes-sigs/kwok/releases has it';

/**
 * Installs the programs of a version from their official releases, each against its checksum. Who is interrupted goes on
 * where it ended. The folder of the version appears when all is there.
 */
export async function installVersion(
  version: string,
  programs: string,
  sources: Sources,
  reporting: Reporting,
): Promise<void> {
  // Before 300 MB are fetched.
  if (sources.kwok !== undefined) fs.accessSync(sources.kwok, fs.constants.R_OK);
  fs.mkdirSync(programs, { recursive: true });
  const lock = lockFile(path.join(programs, '.lock'));
  if (!lock) throw new Error(`Another installation in ${programs} is going on`);
  try {
    await install(version, programs, sources, reporting);
  } finally {
    lock.release();
  }
}

async function install(version: string, programs: string, sources: Sources, reporting: Reporting): Promise<void> {
  const { say } = reporting;
  const folder = path.join(programs, version);
  const draft = path.join(programs, `.${version}.draft`);
  if (wholeFolder(folder)) {
    if (sources.kwok !== undefined) addKwok(folder, sources.kwok);
    return say(`Kubernetes ${version} is in ${folder}.`);
  }
  fs.mkdirSync(draft, { recursive: true });
  if (sources.from === undefined) await fromReleases(version, draft, sources, reporting);
  else if (URL.canParse(sources.from))
    await fromAddress(`${sources.from.replace(/\/$/, '')}/${version}`, draft, reporting);
  else fromFolder(folderWith(version, sources.from), draft, say);
  for (const name of fs.readdirSync(draft)) {
    if ([...PROGRAMS, KWOK].some((program) => program === name)) fs.chmodSync(path.join(draft, name), 0o755);
    else fs.rmSync(path.join(draft, name));
  }
  writeSums(draft);
  if (sources.kwok !== undefined) addKwok(draft, sources.kwok);
  else if (!hasKwok(draft)) say(`${ABOUT_KWOK}. Then run this again with --kwok FILE.`);
  // Control planes that run from a damaged folder keep their files.
  fs.rmSync(folder, { recursive: true, force: true });
  fs.renameSync(draft, folder);
  say(`Kubernetes ${version} is in ${folder}.`);
}

async function fromReleases(
  version: string,
  draft: string,
  { etcdUrl, kubernetesUrl }: Sources,
  { say, signal }: Reporting,
): Promise<void> {
  const architecture = ARCHITECTURES[process.arch];
  if (architecture === undefined) throw new Error(`There are no programs of Kubernetes for ${process.arch}`);
  const etcd = `etcd-${ETCD_VERSION}-linux-${architecture}`;
  const archive = path.join(draft, `${etcd}.tar.gz`);
  const etcdRelease = `${etcdUrl}/${ETCD_VERSION}`;
  await fetchFile(`${etcdRelease}/${etcd}.tar.gz`, archive, `${etcdRelease}/SHA256SUMS`);
  for (const name of PROGRAMS.filter((each) => each !== 'etcd')) {
    const url = `${kubernetesUrl}/${version}/bin/linux/${architecture}/${name}`;
    await fetchFile(url, path.join(draft, name), `${url}.sha256`);
  }
  // Again if need be: who was interrupted here left a part of it.
  unpack(archive, draft, `${etcd}/etcd`);

  async function fetchFile(url: string, file: string, sums: string): Promise<void> {
    say(url);
    await download(url, file, await checksumOf(sums, path.basename(file), signal), signal);
  }
}

/** Over a network, nothing is taken without a checksum. */
async function fromAddress(base: string, draft: string, { say, signal }: Reporting): Promise<void> {
  const sums = await checksumsAt(`${base}/${SUMS}`, signal);
  for (const name of [...PROGRAMS, KWOK]) {
    const sum = sumIn(sums, name);
    if (sum === undefined && name === KWOK) continue;
    if (sum === undefined) throw new Error(`${base}/${SUMS} has no SHA-256 of ${name}`);
    say(`${base}/${name}`);
    await download(`${base}/${name}`, path.join(draft, name), sum, signal);
  }
}

function folderWith(version: string, from: string): string {
  const folders = [path.join(from, version), from];
  const found = folders.find((folder) => missingPrograms(folder).length === 0);
  if (found !== undefined) return found;
  throw new Error(`Neither ${folders.join(' nor ')} has ${PROGRAMS.join(', ')}, as programs that may be started`);
}

function fromFolder(from: string, draft: string, say: Reporting['say']): void {
  const list = path.join(from, SUMS);
  const sums = fs.existsSync(list) ? fs.readFileSync(list, 'utf8') : undefined;
  if (sums === undefined) say(`${from} has no ${SUMS}, so its programs are taken as they are.`);
  for (const name of [...PROGRAMS, KWOK].filter((each) => fs.existsSync(path.join(from, each)))) {
    const [file, copy] = [path.join(from, name), path.join(draft, name)];
    say(file);
    fs.copyFileSync(file, copy);
    const wanted = sums === undefined ? undefined : sumIn(sums, name);
    if (sums === undefined || sumOf(copy) === wanted) continue;
    const sum = sumOf(copy);
    fs.rmSync(copy);
    throw new Error(
      `${file} has the checksum ${sum}, and should have ${wanted ?? `one in ${list}`}; nothing of it was kept`,
    );
  }
}

/** Unpacks one file of the archive. */
function unpack(archive: string, folder: string, member: string): void {
  const words = ['-xzf', archive, '-C', folder, '--strip-components=1', member];
  const { status, stderr, error } = spawnSync('tar', words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${archive} can't be unpacked: ${error?.message ?? stderr.trim()}`);
}

/** A program that runs can't be overwritten, but it can be replaced. */
function addKwok(folder: string, from: string): void {
  const draft = path.join(folder, '.kwok');
  fs.copyFileSync(from, draft);
  fs.chmodSync(draft, 0o755);
  fs.renameSync(draft, path.join(folder, KWOK));
  writeSums(folder);
}
