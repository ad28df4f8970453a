import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { attempt } from '../src/lib/errors.ts';
import { EmbeddedDatabaseError } from './errors.ts';
import type { Runner } from './runner.ts';

export const ROLE = 'tradewind';
export const DATABASE = 'tradewind';

/** A set of server programs that works here. */
export interface Installation {
  binDir: string;
  major: number;
  runner: Runner;
}

export function clusterDirOf(dataDir: string): string {
  return path.join(dataDir, 'postgres');
}

/** Returns the major version of the database in the data folder; undefined if there is none yet. */
export function clusterMajor(dataDir: string): number | undefined {
  const file = path.join(clusterDirOf(dataDir), 'PG_VERSION');
  return fs.existsSync(file) ? Number.parseInt(fs.readFileSync(file, 'utf8'), 10) : undefined;
}

/**
 * Returns the environment of the server's programs: it contains nothing of ours, and messages are always in English.
 */
export function serverEnvironment(dataDir: string): NodeJS.ProcessEnv {
  return {
    // Must come first: glibc up to 2.38 copies this variable elsewhere. PostgreSQL overwrites argv and every
    // environment string that follows it in memory with its process title, but stops at that gap. So
    // /proc/<pid>/environ names the data folder where the title is too short for it. The value is the default.
    ...(process.platform === 'linux' ? { GLIBC_TUNABLES: 'glibc.rtld.optional_static_tls=512' } : {}),
    TRADEWIND_DATA_DIR: dataDir,
    PATH: process.env.PATH,
    TZ: 'UTC',
    LC_MESSAGES: 'C',
  };
}

/**
 * Creates the database cluster with role and database, all or nothing: in a folder beside the final one,
 * which is renamed once it is complete and on the disk.
 */
export async function createCluster(dataDir: string, { binDir, major, runner }: Installation): Promise<void> {
  const unfinished = unfinishedIn(dataDir);
  fs.rmSync(unfinished, { recursive: true, force: true });
  fs.mkdirSync(unfinished, { mode: 0o700 });
  if (process.getuid?.() === 0) fs.chownSync(unfinished, runner.owner.uid, runner.owner.gid);
  const run = (program: string, args: string[], input?: string) =>
    runProgram(runner, dataDir, path.join(binDir, program), args, input);

  await run('initdb', [
    ...['-D', unfinished, '-U', 'postgres', '--auth=trust', '-E', 'UTF8', ...localeOptions(major)],
    ...['--no-instructions', '--no-sync'],
  ]);
  // The role is no superuser, like the role of a DATABASE_URL: the same code must work with both.
  const statements = [
    `CREATE ROLE ${ROLE} LOGIN CREATEDB`,
    // The default strategy writes all of it into the log as well.
    `CREATE DATABASE ${DATABASE} OWNER ${ROLE} STRATEGY file_copy`,
  ];
  const config = ['-c', 'fsync=off', '-c', 'log_checkpoints=off', '-c', 'exit_on_error=on'];
  await run('postgres', ['--single', '-D', unfinished, ...config, 'postgres'], `${statements.join('\n')}\n`);
  await run('initdb', ['--sync-only', ...syncOptions(major), '-D', unfinished]);

  fs.renameSync(unfinished, clusterDirOf(dataDir));
  const folder = fs.openSync(dataDir, 'r');
  fs.fsyncSync(folder);
  fs.closeSync(folder);
}

const unfinishedIn = (dataDir: string) => path.join(dataDir, 'postgres.new');

/** A filled cluster that is kept on this machine, so that new ones begin as its copies. */
export interface Templates {
  /** Made if missing. */
  folder: string;
  /** Tells one filling from another. */
  contents: string;
  /** Fills a new cluster, which runs. */
  fill(connection: { host: string; port: number; user: string; database: string }): Promise<void>;
}

const UNUSED_MS = 24 * 3_600_000;

/**
 * Returns where the template for these programs is, or may be kept; undefined where none is safe. It belongs to one boot of the
 * machine: a crash may leave half of it.
 */
export function templateOf({ folder, contents }: Templates, { binDir, major }: Installation): string | undefined {
  return attempt(() => {
    const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = fs.lstatSync(folder);
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0) return undefined;
    const hash = createHash('sha256').update([boot, major, binDir, contents].join('\n')).digest('hex');
    return path.join(folder, hash.slice(0, 16));
  });
}

/** Makes the cluster a copy of the template. Returns false, and makes nothing, if that can't be had. */
export async function copyTemplate(dataDir: string, template: string): Promise<boolean> {
  const unfinished = unfinishedIn(dataDir);
  fs.rmSync(unfinished, { recursive: true, force: true });
  try {
    // Used templates are not removed.
    await fs.promises.utimes(template, new Date(), new Date());
    await copy(template, unfinished);
    fs.renameSync(unfinished, clusterDirOf(dataDir));
    return true;
  } catch {
    return false;
  }
}

/** Keeps a stopped cluster as the template, all or nothing, and removes what was not used for a day. */
export async function keepTemplate(dataDir: string, template: string): Promise<void> {
  const own = await fs.promises.mkdtemp(`${template}.`);
  try {
    const kept = path.join(own, 'postgres');
    await copy(clusterDirOf(dataDir), kept);
    // Another process may have been faster.
    attempt(() => fs.renameSync(kept, template));
    for (const name of fs.readdirSync(path.dirname(template))) {
      const each = path.join(path.dirname(template), name);
      // Who copies it at this moment fails, and makes a cluster instead.
      attempt(() => fs.statSync(each).mtimeMs < Date.now() - UNUSED_MS && fs.renameSync(each, path.join(own, name)));
    }
  } finally {
    await fs.promises.rm(own, { recursive: true, force: true });
  }
}

/** With owners and modes. Node takes seven times as long for 1,300 files. */
const copy = (from: string, to: string) => promisify(execFile)('cp', ['-a', from, to]);

/** One call for the whole file system takes a tenth of the time of one for each of 1,300 files. */
function syncOptions(major: number): string[] {
  return process.platform === 'linux' && major >= 17 ? ['--sync-method=syncfs'] : [];
}

/** Sorts the same everywhere: by code point, with letters as Unicode defines them. */
function localeOptions(major: number): string[] {
  const libc =
    process.platform === 'darwin' ? ['--locale=C', '--lc-ctype=UTF-8'] : ['--locale=C.UTF-8', '--lc-messages=C'];
  return major >= 17 ? [...libc, '--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : libc;
}

/** Gives the files to the user that the server runs as now, e.g. after a move between a container and its host. */
export function adoptCluster(dataDir: string, { owner }: Runner): void {
  const cluster = clusterDirOf(dataDir);
  if (process.getuid?.() !== 0 || fs.statSync(cluster).uid === owner.uid) return;
  // The folder itself comes last, so that an interrupted run is repeated.
  for (const entry of fs.readdirSync(cluster, { recursive: true, encoding: 'utf8' }))
    fs.lchownSync(path.join(cluster, entry), owner.uid, owner.gid);
  fs.chownSync(cluster, owner.uid, owner.gid);
}

async function runProgram(runner: Runner, dataDir: string, program: string, args: string[], input = ''): Promise<void> {
  const [command = program, ...rest] = [...runner.prefix, program, ...args];
  const child = spawn(command, rest, {
    ...runner.identity,
    cwd: '/',
    env: serverEnvironment(dataDir),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  // The program may exit before it has read everything; then its exit code says so.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const status = await new Promise<number | string | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
  if (status !== 0 || /^.*(FATAL|PANIC|ERROR):/m.test(output))
    throw new EmbeddedDatabaseError(
      `${path.basename(program)} failed (${status}) for the data folder ${dataDir}:\n${output.trim()}\nIf the folder is the reason, choose another with TRADEWIND_DATA_DIR.`,
    );
}
