import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { Readable } from 'node:stream';
import { isProgram } from '../src/lib/own-program.ts';
import type { AnalysisLimits } from './job.ts';

/** Returns the absolute path of a program; undefined if it does not exist. */
export function findProgram(name: string, searchPath: string): string | undefined {
  const candidates = path.isAbsolute(name)
    ? [name]
    : searchPath
        .split(path.delimiter)
        .filter(path.isAbsolute)
        .map((folder) => path.join(folder, name));
  return candidates.find(isProgram);
}

type Limits = Pick<AnalysisLimits, 'cpuSeconds' | 'memoryBytes' | 'writtenBytes' | 'wallSeconds'>;

/** Starts programs that read untrusted bytes: with limits, without input, and without our environment. */
export interface Programs {
  start(program: string, args: readonly string[]): Running;
}

interface Ended {
  ok: boolean;
  /** Whether the program was stopped after its time limit, or by the kernel at another limit. */
  stopped: 'time' | 'limit' | undefined;
}

export interface Running {
  stdout: Readable;
  /** File descriptor 3, for programs with two kinds of output. */
  notes: Readable;
  /** Calls `hear` with each line of standard error. */
  onErrorLine(hear: (line: string) => void): void;
  /** Returns the end of standard error. */
  complaint(): string;
  /** Resolves when the program has ended and all output is read. */
  ended: Promise<Ended>;
  kill(): void;
}

const COMPLAINT_CHARACTERS = 4_000;

export function createPrograms(options: { searchPath: string; folder: string; limits: Limits }): Programs {
  const { searchPath, folder, limits } = options;
  const wrapper = limiter(searchPath, limits);
  const deadline = Date.now() + limits.wallSeconds * 1_000;

  return {
    start(program, args) {
      const [command = program, ...rest] = [...wrapper, program, ...args];
      const child = spawn(command, rest, {
        cwd: folder,
        env: { PATH: searchPath, HOME: folder, TMPDIR: folder, LC_ALL: 'C.UTF-8' },
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      });
      return running(child, Math.max(1, deadline - Date.now()));
    },
  };
}

/** Uses util-linux, if installed: the kernel enforces the limits and ends the program when we end. */
function limiter(searchPath: string, limits: Limits): string[] {
  const prlimit = findProgram('prlimit', searchPath);
  const setpriv = findProgram('setpriv', searchPath);
  return [
    ...(setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--no-new-privs']),
    ...(prlimit === undefined
      ? []
      : [
          prlimit,
          `--cpu=${limits.cpuSeconds}`,
          `--as=${limits.memoryBytes}`,
          `--fsize=${limits.writtenBytes}`,
          '--core=0',
        ]),
  ];
}

function running(child: ChildProcess, wallMs: number): Running {
  let complaint = '';
  let late = false;
  const hearers: ((line: string) => void)[] = [];
  const { stdout, stderr } = child;
  const notes = child.stdio[3];
  if (!stdout || !stderr || !(notes instanceof Readable)) throw new Error('A program was started without pipes');

  let rest = '';
  stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-COMPLAINT_CHARACTERS);
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(-COMPLAINT_CHARACTERS);
    for (const line of lines) for (const hear of hearers) hear(line);
  });
  const timer = setTimeout(() => {
    late = true;
    child.kill('SIGKILL');
  }, wallMs);

  async function untilEnd(): Promise<Ended> {
    try {
      const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
      const stopped = late ? 'time' : signal === null ? undefined : 'limit';
      return { ok: code === 0, stopped };
    } finally {
      clearTimeout(timer);
    }
  }
  const ended = untilEnd();
  // Callers who wait get the error; nobody has to wait.
  ended.catch(() => {});

  return {
    stdout,
    notes,
    onErrorLine: (hear) => void hearers.push(hear),
    complaint: () => complaint.trim(),
    ended,
    kill: () => void child.kill('SIGKILL'),
  };
}
