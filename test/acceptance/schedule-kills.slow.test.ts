import pg from 'pg';
import { expect, it } from 'vitest';
import { createDatabase } from '../support/databases.ts';
import { createHttpClient } from '../support/http-client.ts';
import { brokenInvariants } from './concurrency/invariants.ts';
import { build, type ServeProcess, serve, takeForDead, temporaryFolder } from './processes.ts';

const TOKEN = '7_acceptance-secret';
const VOLUMES = 60;
/** How many snapshots there are when a worker is killed. */
const KILLS = [5, 25, 45];

it('takes each snapshot once, however many workers there are and however often one is killed', async () => {
  build();
  const database = await createDatabase({ empty: true });
  const pool = new pg.Pool({ connectionString: database.url, max: 2 });
  const settings = {
    DATABASE_URL: database.url,
    TRADEWIND_DATA_DIR: temporaryFolder(),
    TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
    TRADEWIND_SIMULATION_SPEED: '100',
    TRADEWIND_LOG_LEVEL: 'error',
  };
  const started: ServeProcess[] = [];
  const start = async (...args: string[]) => {
    const process = await serve(settings, args);
    started.push(process);
    return process;
  };
  const count = async (): Promise<number> => {
    const { rows } = await pool.query('select count(*)::int as count from scheduled_snapshots');
    return rows[0].count;
  };
  try {
    const api = await start('--role', 'api');
    let workers = [await start('--role', 'worker'), await start('--role', 'worker')];
    const http = createHttpClient(api.url, TOKEN);
    const tasks = await Promise.all(
      Array.from({ length: VOLUMES }, async (_, at) => {
        const body = { source: 'new-volume', name: `data-${at}`, size: 1 };
        return http.task((await http.post('/cloud/v1/volumes/1/1', body)).body[0]);
      }),
    );
    const volume_ids = tasks.map((task) => task.created_resources.volumes[0]);
    const schedules = [{ type: 'interval', weeks: 1, max_quantity: 5 }];
    const made = await http.post('/cloud/v1/lifecycle_policy/1/1', {
      ...{ name: 'kills', action: 'volume_snapshot', schedules, volume_ids },
    });
    expect(made.status, made.text).toBe(200);
    await pool.query(`update snapshot_turns set due_at = now(), try_at = now()`);
    for (const part of KILLS) {
      await expect.poll(count, { interval: 5 }).toBeGreaterThanOrEqual(part);
      const [first, ...others] = workers;
      await first?.end('SIGKILL');
      if (first) await takeForDead(pool, first);
      workers = [...others, await start('--role', 'worker')];
    }
    await expect.poll(count).toBe(VOLUMES);
    const { rows } = await pool.query(
      'select count(*)::int as count from scheduled_snapshots group by volume_id having count(*) <> 1',
    );
    expect(rows).toEqual([]);
    // All of them are planned for the next week, and nothing else made a snapshot.
    const later = await pool.query(`select from snapshot_turns where due_at > now() + interval '6 days'`);
    expect(later.rows).toHaveLength(VOLUMES);
    const ready = async () => {
      const { body } = await http.get('/cloud/v1/snapshots/1/1');
      return body.results.filter(({ status }: { status: string }) => status === 'available').length;
    };
    await expect.poll(ready).toBe(VOLUMES);
    await expect.poll(() => brokenInvariants(pool), { interval: 1_000 }).toEqual([]);
  } finally {
    await Promise.all(started.map((one) => one.end('SIGKILL')));
    await pool.end();
    await database.drop();
  }
});
