import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Templates } from './cluster.ts';
import { DataDirLockedError } from './errors.ts';
import { type EmbeddedServer, RELAXED, startEmbeddedServer } from './server.ts';

const isRoot = process.getuid?.() === 0;
const isLinux = process.platform === 'linux';
const FIXTURE = fileURLToPath(new URL('fixtures/tradewind.mjs', import.meta.url));
const TSX = import.meta.resolve('tsx');
// The id of another user that every Linux has.
const DAEMON = 1;

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tw-embedded-'));
fs.chmodSync(home, 0o755);
let folders = 0;
const newDataDir = () => path.join(home, `d${++folders}`, 'data');

const servers: EmbeddedServer[] = [];
const children: ChildProcess[] = [];

async function start(
  dataDir: string,
  log: (line: string) => void = () => {},
  settings: Record<string, string> = {},
  templates?: Templates,
): Promise<EmbeddedServer> {
  const server = await startEmbeddedServer({ dataDir, log, settings, templates });
  servers.push(server);
  return server;
}

async function query(server: EmbeddedServer, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(server.connection);
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Starts the fixture; `lines` collects what it prints. */
function spawnTradewind(dataDir: string, mode: string, options: { prefix?: string[]; path?: string } = {}) {
  const [command = '', ...args] = [
    ...(options.prefix ?? []),
    process.execPath,
    '--import',
    TSX,
    FIXTURE,
    dataDir,
    mode,
  ];
  const env = { ...process.env, ...(options.path ? { PATH: options.path } : {}) };
  const child = spawn(command, args, { cwd: '/', env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const lines: string[] = [];
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
  });
  const line = async (pattern: RegExp) => {
    for (;;) {
      const match = lines.map((text) => pattern.exec(text)).find(Boolean);
      if (match) return match;
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`the process ended: ${lines.join('\n')}`);
      await sleep(10);
    }
  };
  return { child, lines, line };
}

async function kill(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await exited;
}

async function expectAcknowledgedRows(dataDir: string, lines: string[]): Promise<void> {
  const acknowledged = lines.filter((line) => line.startsWith('ack ')).map((line) => Number(line.slice(4)));
  expect(acknowledged.length).toBeGreaterThan(0);
  const server = await start(dataDir);
  const kept = new Set((await query(server, 'select n from n')).map((row) => row.n));
  expect(acknowledged.filter((n) => !kept.has(n))).toEqual([]);
}

/** Returns false for zombies too, which stay in a container without an init process. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isLinux || !/^State:\tZ/m.test(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Returns the server's processes: its main process and that process's children. */
function processesOf(pid: number): number[] {
  const parentOf = (id: string) => /^PPid:\t(\d+)$/m.exec(fs.readFileSync(`/proc/${id}/status`, 'utf8'))?.[1];
  const isChild = (id: string) => {
    try {
      return parentOf(id) === String(pid);
    } catch {
      return false;
    }
  };
  return [
    pid,
    ...fs
      .readdirSync('/proc')
      .filter((id) => /^\d+$/.test(id) && isChild(id))
      .map(Number),
  ];
}

/** Tries to connect to the socket as another user. Returns the error's code, or "connected". */
function connectAs(uid: number, host: string): string {
  const script = `require('node:net').connect(process.argv[1]).on('connect', () => { console.log('connected'); process.exit(); }).on('error', (e) => console.log(e.code))`;
  const args = ['--reuid', String(uid), '--regid', String(uid), '--clear-groups'];
  const result = spawnSync('setpriv', [...args, process.execPath, '-e', script, path.join(host, '.s.PGSQL.5432')], {
    cwd: '/',
    encoding: 'utf8',
  });
  return result.stdout.trim() || result.stderr;
}

const mayRead = (uid: number) =>
  spawnSync('setpriv', ['--reuid', String(uid), '--regid', String(uid), '--clear-groups', 'test', '-r', FIXTURE], {
    cwd: '/',
  }).status === 0;

afterEach(async () => {
  for (const child of children.splice(0)) await kill(child);
  for (const server of servers.splice(0)) await server.stop();
});

afterAll(() => fs.rmSync(home, { recursive: true, force: true }));

describe('the embedded server', () => {
  it('keeps its data from start to start, durable and off the network', async () => {
    const dataDir = newDataDir();
    const first = await start(dataDir);
    await query(first, 'create table t as select 7 as x');
    const settings = `select current_setting('fsync') fsync, current_setting('synchronous_commit') sync,
      current_setting('listen_addresses') tcp, usesuper, pg_get_userbyid(datdba) as owner, lower('ÄƏ') as lower
      from pg_user, pg_database where usename = current_user and datname = current_database()`;
    expect(await query(first, settings)).toEqual([
      { fsync: 'on', sync: 'on', tcp: '', usesuper: false, owner: 'tradewind', lower: 'äə' },
    ]);
    await first.stop();
    await first.stop();
    expect(fs.existsSync(path.join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false);

    const second = await start(dataDir);
    const client = new pg.Client({ connectionString: second.url });
    await client.connect();
    await client.query('create extension pg_trgm');
    expect((await client.query('select x from t')).rows).toEqual([{ x: 7 }]);
    await client.end();
  });

  it('waits for the disk again after a relaxed start, with the same data', async () => {
    const dataDir = newDataDir();
    const settings = `select current_setting('fsync') fsync, current_setting('synchronous_commit') sync,
      current_setting('full_page_writes') pages`;
    const relaxed = await start(dataDir, undefined, RELAXED);
    expect(await query(relaxed, settings)).toEqual([{ fsync: 'off', sync: 'on', pages: 'off' }]);
    await query(relaxed, 'create table t as select 7 as x');
    await relaxed.stop();
    const full = await start(dataDir);
    expect(await query(full, settings)).toEqual([{ fsync: 'on', sync: 'on', pages: 'on' }]);
    expect(await query(full, 'select x from t')).toEqual([{ x: 7 }]);
  });

  it('begins a folder with a copy of what the first one was filled with', async () => {
    const fillings: string[] = [];
    const templates = (contents: string, folder = path.join(home, 'templates')): Templates => ({
      folder,
      contents,
      async fill(connection) {
        fillings.push(contents);
        const client = new pg.Client(connection);
        await client.connect();
        await client.query('create table t as select 7 as x');
        await client.end();
      },
    });
    const begin = (given: Templates) => start(newDataDir(), undefined, RELAXED, given);
    const first = await begin(templates('one'));
    await query(first, 'update t set x = 8');
    const second = await begin(templates('one'));
    expect(await query(second, 'select x from t')).toEqual([{ x: 7 }]);
    expect(await query(first, 'select x from t')).toEqual([{ x: 8 }]);
    expect(fillings).toEqual(['one']);
    await begin(templates('two'));
    expect(fillings).toEqual(['one', 'two']);
    const kept = () => fs.readdirSync(path.join(home, 'templates'));
    expect(kept()).toHaveLength(2);
    // What was not used for a day goes when there is a new one.
    const longAgo = new Date(Date.now() - 48 * 3_600_000);
    for (const name of kept()) fs.utimesSync(path.join(home, 'templates', name), longAgo, longAgo);
    await begin(templates('three'));
    expect(kept()).toHaveLength(1);
    // Where nothing safe can be kept, folders are made as without templates.
    fs.mkdirSync(path.join(home, 'of-everybody'), { mode: 0o777 });
    fs.chmodSync(path.join(home, 'of-everybody'), 0o777);
    const plain = await begin(templates('one', path.join(home, 'of-everybody')));
    expect(await query(plain, `select to_regclass('t')`)).toEqual([{ to_regclass: null }]);
    expect(fs.readdirSync(path.join(home, 'of-everybody'))).toEqual([]);
  });

  it('is started again when it is killed, until it is stopped', async () => {
    const log: string[] = [];
    const server = await start(newDataDir(), (line) => log.push(line));
    await query(server, 'create table t as select 7 as x');
    const pool = new pg.Pool({ ...server.connection, max: 2 });
    pool.on('error', () => {});
    await pool.query('select 1');
    const killed = server.pid;
    process.kill(killed, 'SIGKILL');
    // Until then an orphaned backend may still answer.
    await expect.poll(() => server.pid).not.toBe(killed);
    await expect
      .poll(() => pool.query('select x from t').then(({ rows }) => rows, String), { interval: 50 })
      .toEqual([{ x: 7 }]);
    expect(log).toEqual([
      expect.stringContaining('creating the database'),
      expect.stringContaining('ended unexpectedly (SIGKILL)'),
      'PostgreSQL runs again',
    ]);
    await pool.end();
    const { pid } = server;
    await server.stop();
    await sleep(300);
    expect(isRunning(pid)).toBe(false);
  });

  it('keeps acknowledged rows when Tradewind is killed, and starts unaided', async () => {
    const dataDir = newDataDir();
    const tradewind = spawnTradewind(dataDir, 'write');
    await tradewind.line(/^ack 50$/);
    await kill(tradewind.child);
    await expectAcknowledgedRows(dataDir, tradewind.lines);
  });

  it('keeps acknowledged rows when both are killed, and when their process ids are taken', async () => {
    const dataDir = newDataDir();
    const tradewind = spawnTradewind(dataDir, 'write');
    const [, postmaster] = await tradewind.line(/^ready (\d+)/);
    await tradewind.line(/^ack 50$/);
    process.kill(Number(postmaster), 'SIGKILL');
    await kill(tradewind.child);
    const pidFile = path.join(dataDir, 'postgres', 'postmaster.pid');
    const bystander = spawn('sleep', ['60'], isRoot ? { uid: 65534, gid: 65534 } : {});
    children.push(bystander);
    const [, ...rest] = fs.readFileSync(pidFile, 'utf8').split('\n');
    fs.writeFileSync(pidFile, [bystander.pid, ...rest].join('\n'));
    await expectAcknowledgedRows(dataDir, tradewind.lines);
  });

  // Without setpriv the server outlives a killed Tradewind, and root's server runs without any special right.
  it.skipIf(isRoot && !mayRead(65534))(
    'takes over from a server that outlived its Tradewind, without setpriv',
    async () => {
      const bin = fs.mkdtempSync(path.join(home, 'bin-'));
      fs.chmodSync(bin, 0o755);
      for (const tool of ['sh', ...(isLinux ? ['flock'] : ['ps'])])
        fs.symlinkSync(spawnSync('which', [tool], { encoding: 'utf8' }).stdout.trim(), path.join(bin, tool));
      const dataDir = newDataDir();
      const tradewind = spawnTradewind(dataDir, 'write', { path: bin });
      const [, postmaster] = await tradewind.line(/^ready (\d+)/);
      await tradewind.line(/^ack 50$/);
      await kill(tradewind.child);
      expect(isRunning(Number(postmaster))).toBe(true);
      await expectAcknowledgedRows(dataDir, tradewind.lines);
      expect(isRunning(Number(postmaster))).toBe(false);
    },
  );

  it('lets one Tradewind at a time into a data folder', async () => {
    const dataDir = newDataDir();
    const server = await start(dataDir);
    await expect(start(dataDir)).rejects.toThrow(DataDirLockedError);
    const other = spawnTradewind(dataDir, 'hold');
    const [, message] = await other.line(/^failed DataDirLockedError (.*)/);
    expect(message).toContain(`${fs.realpathSync(dataDir)} is in use by another Tradewind (process ${process.pid})`);
    expect(message).toContain('TRADEWIND_DATA_DIR');
    expect(await query(server, 'select 1 as x')).toEqual([{ x: 1 }]);
    await server.stop();
    await start(dataDir);
  });

  it('says which version a database needs, and what to install when there is none', async () => {
    const dataDir = newDataDir();
    const nowhere = startEmbeddedServer({ dataDir, log: () => {}, binDirs: [] });
    await expect(nowhere).rejects.toThrow(/No PostgreSQL 15 or newer found.*apt-get install postgresql/);
    await (await start(dataDir)).stop();
    fs.writeFileSync(path.join(dataDir, 'postgres', 'PG_VERSION'), '14\n');
    await expect(start(dataDir)).rejects.toThrow(/made by PostgreSQL 14, and this machine has PostgreSQL \d+/);
  });

  it.runIf(isLinux)('works under a path too long for a socket, and every process names it', async () => {
    const dataDir = path.join(newDataDir(), 'x'.repeat(120), 'y'.repeat(120));
    const server = await start(dataDir);
    const socketDir = server.connection.host;
    expect(socketDir.length).toBeLessThan(90);
    expect(fs.statSync(socketDir).mode & 0o777).toBe(0o700);
    const client = new pg.Client(server.connection);
    await client.connect();
    const processes = processesOf(server.pid);
    expect(processes.length).toBeGreaterThan(4);
    for (const pid of processes) {
      const texts = ['cmdline', 'environ'].map((file) => fs.readFileSync(`/proc/${pid}/${file}`, 'utf8'));
      expect(texts.join(' ')).toContain(dataDir);
      // Ctrl-C in a terminal reaches our whole process group; the server has its own.
      expect(fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[3]).not.toBe(process.pid);
    }
    await client.end();
    await server.stop();
    expect(fs.existsSync(socketDir)).toBe(false);
  });
});

describe.runIf(isRoot && isLinux)('as root', () => {
  it("works in another user's closed folder, and lets no other user in", async () => {
    const dataDir = newDataDir();
    const closed = path.dirname(dataDir);
    fs.mkdirSync(closed, { mode: 0o700 });
    fs.chownSync(closed, DAEMON, DAEMON);
    const server = await start(dataDir);
    expect(await query(server, 'select 1 as x')).toEqual([{ x: 1 }]);
    // From here on, only the server's own folders protect it.
    fs.chmodSync(closed, 0o755);
    fs.chmodSync(dataDir, 0o755);
    for (const uid of [DAEMON, 65533, 65534]) expect(connectAs(uid, server.connection.host)).toBe('EACCES');
    expect(fs.statSync(path.join(dataDir, 'postgres')).mode & 0o777).toBe(0o700);
    expect(/^Uid:\t(\d+)/m.exec(fs.readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]).not.toBe('0');
  });

  it.runIf(mayRead(DAEMON))('runs for an ordinary user, whose database root can then open too', async () => {
    const dataDir = newDataDir();
    fs.mkdirSync(path.dirname(dataDir));
    fs.chownSync(path.dirname(dataDir), DAEMON, DAEMON);
    const asDaemon = ['setpriv', '--reuid', String(DAEMON), '--regid', String(DAEMON), '--clear-groups'];
    const tradewind = spawnTradewind(dataDir, 'write', { prefix: asDaemon });
    const [, , host = ''] = await tradewind.line(/^ready (\d+) (.*)/);
    await tradewind.line(/^ack 5$/);
    for (const uid of [65533, 65534]) expect(connectAs(uid, host)).toBe('EACCES');
    expect(fs.statSync(path.join(dataDir, 'postgres')).uid).toBe(DAEMON);
    await kill(tradewind.child, 'SIGTERM');
    await expectAcknowledgedRows(dataDir, tradewind.lines);
  });
});
