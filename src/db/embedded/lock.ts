import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FileLock, LockFailed, lockFile } from '../../lib/file-lock.ts';
import { DataDirLockedError, EmbeddedDatabaseError } from './errors.ts';

// A predecessor that was just killed may need a moment to exit.
const ATTEMPTS = 5;
const PAUSE_MS = 100;

/** Locks the data folder for this process until the lock is released. Throws `DataDirLockedError`. */
export async function lockDataDir(dataDir: string): Promise<{ release(): void }> {
  const file = path.join(dataDir, 'tradewind.lock');
  for (let attempt = 1; ; attempt++) {
    const lock = tryLock(file);
    if (lock !== undefined) {
      fs.ftruncateSync(lock.fd);
      fs.writeSync(lock.fd, `${process.pid}\n`, 0);
      return lock;
    }
    if (attempt === ATTEMPTS) throw new DataDirLockedError(dataDir, readHolder(file));
    await sleep(PAUSE_MS);
  }
}

/** Returns undefined if another process holds the lock. */
function tryLock(file: string): FileLock | undefined {
  try {
    return lockFile(file);
  } catch (error) {
    if (!(error instanceof LockFailed)) throw error;
    throw new EmbeddedDatabaseError(
      error.program !== undefined
        ? 'The program flock is missing. Install it (Debian, Ubuntu: apt-get install util-linux), or set DATABASE_URL to use a PostgreSQL of your own.'
        : `The data folder can't be locked: ${error.message}. Put it on a local disk with TRADEWIND_DATA_DIR.`,
    );
  }
}

function readHolder(file: string): number | undefined {
  const pid = Number.parseInt(fs.readFileSync(file, 'utf8'), 10);
  return pid > 0 ? pid : undefined;
}
