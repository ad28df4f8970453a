import fs from 'node:fs';
import path from 'node:path';
import { SettingError } from '../src/lib/errors.ts';
import { clusterMajor } from './cluster.ts';

const CLOSED = 0o700;
/** Entries that may exist in an otherwise empty folder. */
const OF_NOBODY = /^\.|^lost\+found$/;

/**
 * Returns the folder, created if it is missing.
 * @throws SettingError if it can't be used or can't be closed to other users
 */
export function makeDataDir(dataDir: string): string {
  if (fs.existsSync(dataDir) && !fs.statSync(dataDir).isDirectory()) {
    throw new SettingError(`TRADEWIND_DATA_DIR is not usable: ${dataDir} is a file, and a folder is needed.`);
  }
  try {
    makeFolder(dataDir, CLOSED);
    fs.accessSync(dataDir, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
  } catch (error) {
    throw new SettingError(
      `TRADEWIND_DATA_DIR is not usable: ${dataDir} can't be used (${(error as NodeJS.ErrnoException).code}). Make it writable for this user, or choose another folder.`,
    );
  }
  const folder = fs.realpathSync(dataDir);
  const problem = whyOpen(folder);
  if (problem !== undefined) throw new SettingError(`TRADEWIND_DATA_DIR is not usable: ${problem}`);
  return folder;
}

/**
 * Doesn't use mkdir's recursive mode, which never ends in a file system that has the parent and refuses every
 * child, like /proc.
 */
function makeFolder(folder: string, mode?: number): void {
  if (fs.existsSync(folder)) return;
  makeFolder(path.dirname(folder));
  fs.mkdirSync(folder, mode);
}

/**
 * Returns why a folder that is open to other users can't be closed; undefined if it is closed or `closeDataDir` can
 * close it. Root's database runs as the user "nobody", so only the folder keeps that user's other programs out.
 */
export function whyOpen(folder: string): string | undefined {
  const { mode, uid } = fs.statSync(folder);
  if ((mode & 0o777 & ~CLOSED) === 0) return undefined;
  const open = `${folder} is open to other users (${octal(mode)})`;
  const self = process.getuid?.();
  if (self !== 0 && self !== uid) {
    if ((mode & 0o002) === 0) return undefined;
    return `${open}, who could put another database into it, and this user can't close it. Choose a folder inside it: Tradewind creates that with the right mode.`;
  }
  if (clusterMajor(folder) !== undefined) return undefined;
  const [found] = fs.readdirSync(folder).filter((name) => !OURS.test(name) && !OF_NOBODY.test(name));
  if (found === undefined) return undefined;
  return `${open} and holds ${found}, which is not Tradewind's, so Tradewind doesn't close it. Close it yourself (chmod 700), or choose a folder for Tradewind alone.`;
}

/** What a start leaves behind when it fails before it creates the database. */
const OURS = /^(tradewind\.lock|postgres\.(new|log)|run|tmp|first-token.*|encryption-key(\.new)?|kubernetes|clusters)$/;

/** Closes an existing folder to other users and logs it. Call it while holding the folder's lock. */
export function closeDataDir(folder: string, log: (line: string) => void): void {
  const { mode, uid } = fs.statSync(folder);
  const self = process.getuid?.();
  if ((mode & 0o777 & ~CLOSED) === 0 || (self !== 0 && self !== uid)) return;
  fs.chmodSync(folder, mode & ~0o077);
  // Without special rights, the database's user has to pass through the folder, so we had opened it that far.
  if ((mode & 0o066) !== 0) log(`${folder} was open to other users (${octal(mode)}) and is closed to them now`);
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}
