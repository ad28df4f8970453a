import { spawnSync } from 'node:child_process';
import fs from 'node:fs';

// On macOS open(2) itself takes the lock; Node has no names for these flags.
const DARWIN_O_EXLOCK = 0x20;
const DARWIN_O_NONBLOCK = 0x4;

export interface FileLock {
  /** Of the locked file. */
  fd: number;
  release(): void;
}

/** The lock can't be taken, whoever holds it. `program` names the program that is missing. */
export class LockFailed extends Error {
  override readonly name = 'LockFailed';
  readonly program: string | undefined;

  constructor(message: string, program?: string) {
    super(message);
    this.program = program;
  }
}

/**
 * Locks the file, which is created if it is missing, for this process. The kernel holds the lock on the open file, so it
 * ends with the process, however that dies, and there is nothing stale to clean up.
 * @returns undefined if another process holds the lock
 * @throws LockFailed
 */
export function lockFile(file: string): FileLock | undefined {
  const fd = tryLock(file);
  return fd === undefined ? undefined : { fd, release: () => fs.closeSync(fd) };
}

function tryLock(file: string): number | undefined {
  const flags = fs.constants.O_RDWR | fs.constants.O_CREAT;
  if (process.platform === 'darwin') {
    try {
      return fs.openSync(file, flags | DARWIN_O_EXLOCK | DARWIN_O_NONBLOCK, 0o600);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
      throw error;
    }
  }
  const fd = fs.openSync(file, flags, 0o600);
  // flock(1) locks the open file that it inherits; the lock stays with our descriptor after flock has exited.
  const flock = spawnSync('flock', ['-x', '-n', '3'], {
    stdio: ['ignore', 'ignore', 'pipe', fd],
    encoding: 'utf8',
  });
  if (flock.status === 0) return fd;
  fs.closeSync(fd);
  if (flock.status === 1) return undefined;
  if (flock.error) throw new LockFailed('The program flock is missing', 'flock');
  throw new LockFailed(flock.stderr.trim());
}
