import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { AnalysisProgram } from '../analysis-program.ts';
import { type AnalysisJob, type AnalysisMessage, MESSAGES } from '../job.ts';

const LOOK_MS = 250;
/** Even an empty entry takes space on the disk. */
const ENTRY_BYTES = 4_096;
const BLOCK_BYTES = 512;

/**
 * Checks repeatedly how much is written into a folder. It notices a fast writer late, and isn't needed where
 * the kernel counts.
 * @param tooMuch called once, when there are more bytes than allowed in addition to those at the start
 * @returns a function that ends the watch
 */
export function watchFolder(folder: string, allowedBytes: number, tooMuch: () => void): () => void {
  let ended = false;
  let timer: NodeJS.Timeout | undefined;
  let before: number | undefined;
  async function look(): Promise<void> {
    const bytes = await bytesIn(folder, (before ?? Number.POSITIVE_INFINITY) + allowedBytes);
    before ??= bytes;
    if (ended) return;
    if (bytes > before + allowedBytes) tooMuch();
    else timer = setTimeout(() => void look(), LOOK_MS);
  }
  void look();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

/** Counts up to `enough`, since millions of small files may fill a disk too. */
async function bytesIn(folder: string, enough: number): Promise<number> {
  let bytes = 0;
  try {
    for await (const entry of await fs.opendir(folder)) {
      const file = path.join(folder, entry.name);
      const { blocks } = await fs.lstat(file);
      bytes += ENTRY_BYTES + blocks * BLOCK_BYTES;
      if (entry.isDirectory()) bytes += await bytesIn(file, enough - bytes);
      if (bytes > enough) break;
    }
  } catch (error) {
    // Unreadable entries were deleted meanwhile, or closed to prevent counting.
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return Number.POSITIVE_INFINITY;
  }
  return bytes;
}

/** More than the largest result: two hours of fast speech make two megabytes, 600 frames with findings one megabyte. */
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

/** How an analysis ended. */
export type AnalysisEnd = Extract<AnalysisMessage, { type: 'result' | 'failed' | 'fault' }>;

export interface AnalysisWatcher {
  /** Kills the child; the returned promise rejects with its reason. */
  signal: AbortSignal;
  hear(message: Exclude<AnalysisMessage, AnalysisEnd>): void;
}

const COMPLAINT_CHARACTERS = 2_000;
const LAST_WORDS_MS = 1_000;

/**
 * Runs one analysis in a child process with its own process group. When this returns or throws, the child has
 * ended and everything that it started is killed.
 */
export async function analyse(
  program: AnalysisProgram,
  job: AnalysisJob,
  { signal, hear }: AnalysisWatcher,
): Promise<AnalysisEnd> {
  signal.throwIfAborted();
  const { command, user, folder, writesToDisk } = program.startIn(job.folder);
  const [file, ...args] = command;
  const child = spawn(file, args, {
    ...user,
    cwd: job.folder,
    env: { ...program.environment, HOME: folder, TMPDIR: folder },
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    // Makes the child the leader of a new group, so that one signal reaches everything that it starts.
    detached: true,
  });
  const order = program.orderOf({ ...job, folder, media: job.media.replace(job.folder, () => folder) });
  let end: AnalysisEnd | undefined;
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-COMPLAINT_CHARACTERS);
  });
  // The child may be killed before it has read its order.
  child.stdin?.on('error', () => {});
  const conclude = (how: AnalysisEnd) => {
    end ??= how;
    killGroup(child);
  };
  hearLines(
    messagesOf(child),
    (line) => {
      if (end) return;
      const message = read(program, line);
      if (message.type === 'result' || message.type === 'failed' || message.type === 'fault') conclude(message);
      else hear(message);
    },
    () => conclude({ type: 'fault', message: 'The child process sent more output than an analysis has' }),
  );
  const { writtenBytes } = job.limits;
  const stopWatch = writesToDisk
    ? watchFolder(job.folder, writtenBytes, () => conclude({ type: 'failed', reason: tooMuch(writtenBytes) }))
    : () => {};
  const kill = () => killGroup(child);
  signal.addEventListener('abort', kill, { once: true });
  try {
    // Standard input stays open: its end tells the child that nobody waits any more.
    const how = await ended(child, () => child.stdin?.write(`${JSON.stringify(order)}\n`));
    signal.throwIfAborted();
    return end ?? { type: 'fault', message: `The child ended without a result (${how}): ${complaint.trim()}` };
  } finally {
    stopWatch();
    signal.removeEventListener('abort', kill);
    killGroup(child);
  }
}

function tooMuch(bytes: number): string {
  return `The analysis wrote more than ${Math.floor(bytes / 1_000_000)} MB, the limit for one media file`;
}

function messagesOf({ stdio }: ChildProcess): Readable {
  const messages = stdio[MESSAGES];
  if (messages instanceof Readable) return messages;
  throw new Error('A child was started without pipes');
}

function read(program: AnalysisProgram, line: string): AnalysisMessage {
  try {
    return program.readMessage(JSON.parse(line));
  } catch (error) {
    return { type: 'fault', message: (error as Error).message };
  }
}

/**
 * Resolves with how the child ended: its exit code or the signal. Its last output may arrive after its end,
 * and is waited for.
 */
function ended(child: ChildProcess, begun: () => void): Promise<string> {
  return new Promise((resolve, reject) => {
    child.on('error', (error) => {
      // A running child will exit; one that never started won't.
      if (child.pid === undefined) reject(error);
    });
    child.once('spawn', begun);
    child.once('exit', (code, signal) => {
      const how = signal ?? `exit code ${code}`;
      killGroup(child);
      // A process that keeps the pipes open is out of our reach.
      const patience = setTimeout(() => resolve(how), LAST_WORDS_MS);
      child.once('close', () => {
        clearTimeout(patience);
        resolve(how);
      });
    });
  });
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The whole group has ended.
  }
}
