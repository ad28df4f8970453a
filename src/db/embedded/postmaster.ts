import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { attempt } from '../../lib/errors.ts';
import { clusterDirOf, type Installation, serverEnvironment } from './cluster.ts';
import { EmbeddedDatabaseError } from './errors.ts';

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

const FAST_SHUTDOWN_MS = 10_000;
const LOG_LIMIT_BYTES = 10 * 1024 * 1024;

/** Starts the server and waits until it accepts connections. Throws with the server's own message. */
export async function startPostmaster(
  dataDir: string,
  socketDir: string,
  installation: Installation,
): Promise<ChildProcess> {
  const deadline = Date.now() + RETRY_FOR_MS;
  for (;;) {
    disownStalePid(dataDir);
    try {
      return await launch(dataDir, socketDir, installation);
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
  { binDir, major, runner }: Installation,
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
  };
  const [command = 'postgres', ...args] = [
    ...runner.prefix,
    path.join(binDir, 'postgres'),
    ...['-D', clusterDirOf(dataDir)],
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  const child = spawn(command, args, {
    ...runner.identity,
    cwd: '/',
    env: serverEnvironment(dataDir),
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
  return path.join(clusterDirOf(dataDir), 'postmaster.pid');
}

/** Whether the process is the server of this data folder, and not another one that got its id later. */
function isPostmaster(pid: number, dataDir: string): boolean {
  const command = commandLine(pid);
  return command.includes('postgres') && command.includes(clusterDirOf(dataDir));
}

function commandLine(pid: number): string {
  if (process.platform !== 'linux')
    return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
  return attempt(() => fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')) ?? '';
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
