import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { startEmbeddedServer } from '../../postgres/server.ts';
import { embeddedConnection } from '../../postgres/socket.ts';
import { postgresBinaries } from '../support/global-setup.ts';
import { brokenInvariants } from './concurrency/invariants.ts';
import { type Load, startLoad } from './kills/load.ts';
import { build, type ServeProcess, serve, temporaryFolder } from './processes.ts';

/** The number of kills, one after the other. Six reach each victim. Set TEST_KILLS to 50 for a thorough run. */
const KILLS = Number(process.env.TEST_KILLS ?? 6);
const CLIENTS = 6;
const RECOVERS_WITHIN_MS = 60_000;
const TOKEN = '7$acceptance-secret';
const settings = {
  TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
  TRADEWIND_SIMULATION_SPEED: '10',
  TRADEWIND_RATE_LIMIT: '0',
  TRADEWIND_LOG_LEVEL: 'warn',
};

/** Something that can be killed, and comes back by itself or by `kill`. */
type Victim = { name: string; kill(): Promise<void> };

describe('nothing that was acknowledged is lost, and every task ends by itself', () => {
  // The embedded PostgreSQL is one version only.
  it.skipIf(process.env.TEST_POSTGRES !== undefined)(
    `after ${KILLS} kills of the only process, its database and connections`,
    async () => {
      build();
      const dataDir = temporaryFolder();
      const own = { ...settings, TRADEWIND_DATA_DIR: dataDir, TRADEWIND_PORT: '0' };
      let server = await serve(own);
      const connection = () => embeddedConnection(fs.realpathSync(path.join(dataDir, 'run')));
      const victims: Victim[] = [
        {
          name: 'tradewind',
          async kill() {
            await server.end('SIGKILL');
            server = await serve(own);
          },
        },
        { name: 'postmaster', kill: async () => kill(postmasterOf(dataDir)) },
        { name: 'a connection', kill: () => killBackend(connection()) },
      ];
      try {
        await survive(victims, () => server.url, connection);
      } finally {
        await server.end('SIGKILL');
        await sleep(500);
        fs.rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
      }
    },
    600_000,
  );

  it(`after ${KILLS} kills of two APIs, two workers and their database`, async () => {
    build();
    const dataDir = temporaryFolder();
    const database = await startEmbeddedServer({ dataDir, log: () => {}, ...postgresBinaries() });
    const own = { ...settings, DATABASE_URL: database.url, TRADEWIND_DATA_DIR: temporaryFolder() };
    const processes: ServeProcess[] = [];
    const start = async (index: number) => {
      processes[index] = await serve(own, ['--role', index < 2 ? 'api' : 'worker']);
    };
    for (const index of [0, 1, 2, 3]) await start(index);
    const victims: Victim[] = [
      ...[0, 1, 2, 3].map((index) => ({
        name: `${index < 2 ? 'API' : 'worker'} ${(index % 2) + 1}`,
        async kill() {
          await processes[index]?.end('SIGKILL');
          await start(index);
        },
      })),
      { name: 'postmaster', kill: async () => kill(database.pid) },
      { name: 'a connection', kill: () => killBackend(database.connection) },
    ];
    let turn = 0;
    try {
      await survive(
        victims,
        () => processes[turn++ % 2]?.url ?? '',
        () => database.connection,
      );
    } finally {
      await Promise.all(processes.map((each) => each.end('SIGKILL')));
      await database.stop();
      fs.rmSync(dataDir, { recursive: true, force: true });
    }
  }, 600_000);
});

async function survive(victims: Victim[], url: () => string, connection: () => pg.ClientConfig): Promise<void> {
  const load = startLoad({ url, token: TOKEN, clients: CLIENTS });
  const killed: string[] = [];
  const order = randomlySorted(victims);
  for (let count = 0; count < KILLS; count++) {
    // On a slow machine the next kill would come before there is anything to lose.
    await expect.poll(() => load.tasks.length, { timeout: RECOVERS_WITHIN_MS }).toBeGreaterThan(count);
    await sleep(500 + Math.random() * 1_500);
    const victim = order[count % order.length];
    killed.push(victim?.name ?? '');
    // The victim may be down already.
    await victim?.kill().catch((error: Error) => killed.push(`(${error.message})`));
  }
  await load.stop();
  const pool = new pg.Pool({ ...connection(), max: 2 });
  pool.on('error', () => {});
  try {
    await everyTaskEnds(pool);
    const failed = await pool.query(`select task_type, error from tasks where state = 'ERROR'`);
    process.stderr.write(`${summary(load, killed)}\n`);
    expect(load.faults).toEqual([]);
    expect(failed.rows).toEqual([]);
    const { rows } = await pool.query(`select id from tasks where id = any($1::uuid[])`, [load.tasks]);
    expect(rows.length).toBe(new Set(load.tasks).size);
    await expect.poll(() => brokenInvariants(pool), { interval: 1_000 }).toEqual([]);
  } finally {
    await pool.end();
  }
}

function randomlySorted<T>(list: T[]): T[] {
  return list
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

async function everyTaskEnds(pool: pg.Pool): Promise<void> {
  await expect
    .poll(
      async () => {
        const open = await pool
          .query(`select id, task_type, state from tasks where state in ('NEW', 'RUNNING')`)
          .catch((error: Error) => ({ rows: [error.message] }));
        return open.rows;
      },
      { timeout: RECOVERS_WITHIN_MS, interval: 500 },
    )
    .toEqual([]);
}

const summary = (load: Load, killed: string[]): string =>
  `${load.acknowledged()} answers, ${load.tasks.length} tasks; killed: ${killed.join(', ')}`;

function kill(pid: number): void {
  process.kill(pid, 'SIGKILL');
}

function postmasterOf(dataDir: string): number {
  const [pid = ''] = fs.readFileSync(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
  return Number(pid);
}

/** Kills a backend, preferably a busy one. PostgreSQL then ends all others and recovers. */
async function killBackend(connection: pg.ClientConfig): Promise<void> {
  const client = new pg.Client(connection);
  client.on('error', () => {});
  await client.connect();
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()
     order by state = 'idle', random() limit 1`,
  );
  const [first] = rows;
  if (first) kill(first.pid);
  await client.end().catch(() => {});
}
