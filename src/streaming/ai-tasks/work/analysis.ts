import { type ChildProcess, spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import type { AnalysisProgram } from '../../../engines/analysis-program.ts';
import { type AnalysisJob, type AnalysisMessage, MESSAGES } from '../../../engines/job.ts';
import { watchFolder } from './folder-watch.ts';
import { hearLines } from './lines.ts';

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
      if (message.type === 'result' || message.type === 'failed' || message.type === 'fault')
        conclude(message);
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
    return (
      end ?? { type: 'fault', message: `The child ended without a result (${how}): ${complaint.trim()}` }
    );
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
