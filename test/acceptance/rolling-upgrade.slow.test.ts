import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/databases.ts';
import { brokenInvariants } from './concurrency/invariants.ts';
import { type Load, startLoad } from './kills/load.ts';
import { environment, type ServeProcess, serve, temporaryFolder } from './processes.ts';
import { buildPreviousRelease, hasHistory } from './releases.ts';
import { buildNextRelease } from './upgrade/next-release.ts';

const TOKEN = '7$acceptance-secret';
const CLIENTS = 3;
/** Answers that the clients must get in each state of the upgrade before it continues. */
const ENOUGH = 50;

/** The steps are those of docs/operators.md. */
describe.runIf(hasHistory)('the previous release and the next one on one database', () => {
  let previous: string;
  let next: string;
  let database: TestDatabase;
  let pool: pg.Pool;
  let load: Load | undefined;
  let settings: Record<string, string>;
  const running = new Map<string, ServeProcess[]>();
  let turn = 0;

  beforeAll(async () => {
    previous = buildPreviousRelease();
    next = buildNextRelease();
    database = await createDatabase({ empty: true });
    pool = new pg.Pool({ connectionString: database.url, max: 2 });
    pool.on('error', () => {});
    settings = {
      DATABASE_URL: database.url,
      TRADEWIND_DATA_DIR: temporaryFolder(),
      TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
      TRADEWIND_SIMULATION_SPEED: '20',
      TRADEWIND_RATE_LIMIT: '0',
      TRADEWIND_LOG_LEVEL: 'warn',
    };
  });
  afterAll(async () => {
    await load?.stop();
    await Promise.all([...running.values()].flat().map((each) => each.end('SIGKILL')));
    await pool?.end();
    await database?.drop();
    if (next) fs.rmSync(next, { recursive: true });
  });

  async function start(release: string, catalog = release): Promise<void> {
    const own = { ...settings, TRADEWIND_CATALOG_DIR: path.join(catalog, 'catalog') };
    const roles = ['api', 'worker'].map((role) => serve(own, ['--role', role], [], release));
    running.set(release, await Promise.all(roles));
  }
  async function stop(release: string): Promise<void> {
    const processes = running.get(release) ?? [];
    // First stop sending requests there, as a load balancer would.
    running.delete(release);
    expect(await Promise.all(processes.map((each) => each.end()))).toEqual([0, 0]);
  }
  /** The load continues meanwhile. */
  async function operate(release: string, ...args: string[]): Promise<string> {
    const child = spawn('node', ['dist/src/main.js', ...args], { cwd: release, env: environment(settings) });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk));
    const [status] = await once(child, 'close');
    if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${text}`);
    return text;
  }
  const url = () => {
    const apis = [...running.values()].map(([api]) => api?.url ?? '');
    return apis[turn++ % apis.length] ?? '';
  };
  async function underLoad(): Promise<void> {
    load ??= startLoad({ url, token: TOKEN, clients: CLIENTS, mayBeAway: false });
    const enough = load.acknowledged() + ENOUGH;
    const { faults, acknowledged } = load;
    await expect
      .poll(() => ({ faults, enough: acknowledged() >= enough }), { timeout: 120_000, interval: 100 })
      .toEqual({ faults: [], enough: true });
  }

  it('begins with the previous one, which makes the schema', async () => {
    await start(previous);
    await underLoad();
  });

  it('does not start the next one on that schema', async () => {
    await expect(operate(next, 'serve')).rejects.toThrow(
      /^serve ended with 57: .*older than this release: .* "tradewind migrate"/s,
    );
  });

  it('migrates while the previous one is at work, which goes on', async () => {
    expect(await operate(next, 'migrate')).toMatch(/Applied: .*9001_expand, 9002_index\n/);
    await underLoad();
  });

  it('serves with both', async () => {
    await start(next, previous);
    await underLoad();
  });

  it('serves with the next one alone', async () => {
    await stop(previous);
    await operate(next, 'catalog', 'apply');
    await underLoad();
  });

  it('goes back: the previous one starts on the new schema, beside the next one and alone', async () => {
    expect(await operate(previous, 'migrate')).toMatch(/Nothing to do: .* a later release \(9002_index\)/);
    await operate(previous, 'catalog', 'apply');
    await start(previous);
    await underLoad();
    await stop(next);
    await underLoad();
  });

  it('has lost nothing', async () => {
    await load?.stop();
    const unended = async () =>
      (await pool.query(`select task_type, state from tasks where state in ('NEW', 'RUNNING')`)).rows;
    await expect.poll(unended, { interval: 500 }).toEqual([]);
    const failed = await pool.query(`select task_type, error from tasks where state = 'ERROR'`);
    expect(failed.rows).toEqual([]);
    const tasks = load?.tasks ?? [];
    const { rows } = await pool.query('select id from tasks where id = any($1::uuid[])', [tasks]);
    expect(rows.length).toBe(new Set(tasks).size);
    expect(tasks.length).toBeGreaterThan(CLIENTS);
    await expect.poll(() => brokenInvariants(pool), { interval: 1_000 }).toEqual([]);
  });

  it('ends the previous one when a migration breaks it, and does not start it again', async () => {
    const processes = running.get(previous) ?? [];
    const ends = processes.map(({ child }) => once(child, 'exit'));
    await pool.query(`
      insert into kysely_migration (name, timestamp) values ('9003_contract', now());
      insert into schema_breaks (migration, needs) values ('9003_contract', '9001_expand')`);
    expect((await Promise.all(ends)).map(([code]) => code)).toEqual([57, 57]);
    expect(processes.map((each) => each.stderr()).join()).toMatch(/do not know 9001_expand can not work with it/);
    running.delete(previous);
    await expect(operate(previous, 'serve')).rejects.toThrow(/^serve ended with 57: .*do not know 9001_expand/s);
  });
});
