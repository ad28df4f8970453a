import type { Readable } from 'node:stream';

/**
 * More than the largest result: two hours of fast speech make two megabytes, 600 frames with findings one
 * megabyte.
 */
const MAX_BYTES = 8_000_000;
/** Each per cent once, and a few stages. */
const MAX_LINES = 1_000;

/**
 * Reads a stranger's output line by line, up to a limit for all of it.
 * @param tooMuch called once when the limit is exceeded; nothing more is read then
 */
export function hearLines(source: Readable, hear: (line: string) => void, tooMuch: () => void): void {
  let begun: Buffer[] = [];
  let bytes = 0;
  let lines = 0;
  // The writer may be killed in the middle.
  source.on('error', () => {});
  source.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    let from = 0;
    for (let to = chunk.indexOf('\n'); to >= 0 && lines <= MAX_LINES; to = chunk.indexOf('\n', from)) {
      lines++;
      const line = Buffer.concat([...begun, chunk.subarray(from, to)]);
      begun = [];
      from = to + 1;
      if (bytes <= MAX_BYTES && lines <= MAX_LINES) hear(line.toString());
    }
    if (bytes > MAX_BYTES || lines > MAX_LINES) {
      source.removeAllListeners('data').resume();
      tooMuch();
    } else if (from < chunk.length) begun.push(chunk.subarray(from));
  });
}
