import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { AnalysisLimits } from './job.ts';

/** The absolute path of a program; undefined where there is none. */
export function findProgram(name: string, searchPath: string): string | undefined {
  const candidates = path.isAbsolute(name)
    ? [name]
    : searchPath
        .split(path.delimiter)
        .filter(path.isAbsolute)
        .map((folder) => path.join(folder, name));
  return candidates.find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

type Limits = Pick<AnalysisLimits, 'cpuSeconds' | 'memoryBytes' | 'writtenBytes' | 'wallSeconds'>;

/** Starts programs that read untrusted bytes: with limits, without input, and with nothing of our environment. */
export interface Programs {
  start(program: string, args: readonly string[]): Running;
}

interface Ended {
  ok: boolean;
  /** By the clock on the wall, or by the kernel at a limit. */
  stopped: 'time' | 'limit' | undefined;
}

export interface Running {
  stdout: Readable;
  /** File descriptor 3, for programs that tell two things at once. */
  notes: Readable;
  /** What it wrote to standard error, line by line. */
  onErrorLine(hear: (line: string) => void): void;
  /** The end of standard error. */
  complaint(): string;
  /** Answers when it has ended and everything is read. */
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

/** util-linux, where it is there: limits that the kernel holds, and an end when we end. */
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
  if (!stdout || !stderr || !(notes instanceof Readable))
    throw new Error('A program was started without pipes');

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
  // Whoever waits hears of it; nobody has to.
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
