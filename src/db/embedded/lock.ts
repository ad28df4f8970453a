import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataDirLockedError, EmbeddedDatabaseError } from './errors.ts';

// On macOS open(2) itself takes the lock; Node has no names for these flags.
const DARWIN_O_EXLOCK = 0x20;
const DARWIN_O_NONBLOCK = 0x4;

// A predecessor that was just killed may need a moment to exit.
const ATTEMPTS = 5;
const PAUSE_MS = 100;

/**
 * Locks the data folder for this process. The kernel holds the lock on the open file, so it ends with the
 * process, however that dies, and there is nothing stale to clean up. Throws `DataDirLockedError`.
 */
export async function lockDataDir(dataDir: string): Promise<{ release(): void }> {
  const file = path.join(dataDir, 'tradewind.lock');
  for (let attempt = 1; ; attempt++) {
    const fd = tryLock(file);
    if (fd !== undefined) {
      fs.ftruncateSync(fd);
      fs.writeSync(fd, `${process.pid}\n`, 0);
      return { release: () => fs.closeSync(fd) };
    }
    if (attempt === ATTEMPTS) throw new DataDirLockedError(dataDir, readHolder(file));
    await sleep(PAUSE_MS);
  }
}

/** Returns the locked file's descriptor, or undefined if another process holds the lock. */
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
  throw new EmbeddedDatabaseError(
    flock.error
      ? 'The program flock is missing. Install it (Debian, Ubuntu: apt-get install util-linux), or set DATABASE_URL to use a PostgreSQL of your own.'
      : `The data folder can't be locked: ${flock.stderr.trim()}. Put it on a local disk with TRADEWIND_DATA_DIR.`,
  );
}

function readHolder(file: string): number | undefined {
  const pid = Number.parseInt(fs.readFileSync(file, 'utf8'), 10);
  return pid > 0 ? pid : undefined;
}
