import { type ChildProcess, spawn } from 'node:child_process';
import type { AnalysisProgram } from '../../../engines/analysis-program.ts';
import type { AnalysisJob, AnalysisMessage } from '../../../engines/job.ts';

/** How an analysis came to its end. */
export type AnalysisEnd = Extract<AnalysisMessage, { type: 'result' | 'failed' | 'fault' }>;

export interface AnalysisWatcher {
  /** Kills the child; the returned promise rejects with its reason. */
  signal: AbortSignal;
  hear(message: Exclude<AnalysisMessage, AnalysisEnd>): void;
}

const COMPLAINT_CHARACTERS = 2_000;
const LAST_WORDS_MS = 1_000;

/**
 * Runs one analysis in a child process of its own, in a process group of its own. When this returns or throws, the
 * child has ended and everything that it started is killed.
 */
export async function analyse(
  program: AnalysisProgram,
  job: AnalysisJob,
  { signal, hear }: AnalysisWatcher,
): Promise<AnalysisEnd> {
  signal.throwIfAborted();
  const [command, ...args] = program.commandIn(job.folder);
  const child = spawn(command, args, {
    cwd: job.folder,
    env: { ...program.environment, HOME: job.folder, TMPDIR: job.folder },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // The leader of a new group, so that one signal reaches all that it starts.
    detached: true,
  });
  let end: AnalysisEnd | undefined;
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-COMPLAINT_CHARACTERS);
  });
  child.on('message', (value) => {
    if (end) return;
    const message = read(program, value);
    if (message.type === 'result' || message.type === 'failed' || message.type === 'fault') {
      end = message;
      killGroup(child);
    } else hear(message);
  });
  const kill = () => killGroup(child);
  signal.addEventListener('abort', kill, { once: true });
  try {
    const how = await ended(child, () => child.send(program.orderOf(job)));
    signal.throwIfAborted();
    return (
      end ?? { type: 'fault', message: `The child ended without a result (${how}): ${complaint.trim()}` }
    );
  } finally {
    signal.removeEventListener('abort', kill);
    killGroup(child);
  }
}

function read(program: AnalysisProgram, value: unknown): AnalysisMessage {
  try {
    return program.readMessage(value);
  } catch (error) {
    return { type: 'fault', message: (error as Error).message };
  }
}

/** Says how it ended: its exit code or the signal. What it said last may arrive after its end, and is waited for. */
function ended(child: ChildProcess, begun: () => void): Promise<string> {
  return new Promise((resolve, reject) => {
    // More than once: what is sent to a child that was killed meanwhile is an error as well.
    child.on('error', (error) => {
      // A child that runs will end; one that never was won't.
      if (child.pid === undefined) reject(error);
    });
    child.once('spawn', begun);
    child.once('exit', (code, signal) => {
      const how = signal ?? `exit code ${code}`;
      killGroup(child);
      // What keeps its pipes open is out of our reach.
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
    // All of it has ended.
  }
}
