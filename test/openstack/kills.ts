import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect } from 'vitest';
import { type Load, startLoad } from '../acceptance/kills/load.ts';
import { build, type ServeProcess, serve } from '../acceptance/processes.ts';
import { assertAsWanted, type CloudRegion, prepareRegion, TOKEN } from './region.ts';
import type { Rig } from './rig.ts';
import { servicesOn } from './services.ts';

const USUAL_KILLS = 5;
/** The number of kills, one after the other. Nineteen reach each victim. Set TEST_KILLS to 30 for a thorough run. */
export const KILLS = Number(process.env.TEST_KILLS ?? USUAL_KILLS);
const CLIENTS = 3;
/** How long a service is away. */
const AWAY_MS = 3_000;
const INTERVAL = 1_000;
const BEGUN = { timeout: 300_000, interval: INTERVAL };
/** Longer than the deadline of any of these tasks. */
const ENDED = { timeout: 720_000, interval: INTERVAL };
/** Longer than it takes until a lost order is given again, or given up. */
const SETTLED = { timeout: 420_000, interval: INTERVAL };
/** What becomes of a thing whose service is killed while it makes it. */
const BROKEN_OFF =
  /could not make the machine|Build of instance \S+ aborted: Unable to update the attachment|Unable to establish connection|Exhausted all hosts|No valid host|ended in the state error|gave it up|deadline exceeded/;
const ROLES = ['api', 'worker'] as const;

/** Kills the API, the worker and each service of the cloud in turn, while clients write. */
export async function outlivesKills(rig: Rig): Promise<void> {
  build();
  const region = await prepareRegion(rig, 'kills');
  const settings = { ...region.settings, TRADEWIND_RATE_LIMIT: '0', TRADEWIND_LOG_LEVEL: 'warn' };
  const processes = new Map<string, ServeProcess>();
  const start = async (role: string) => void processes.set(role, await serve(settings, ['--role', role]));
  // Orders are lost with the bus, and some tasks then end at their deadline of ten minutes.
  const services = servicesOn('fake').filter((name) => name !== 'rabbitmq' || KILLS > USUAL_KILLS);
  const victims = [
    ...ROLES.map((role) => ({
      name: role,
      async kill() {
        await processes.get(role)?.end('SIGKILL');
        await start(role);
      },
    })),
    ...services.map((name) => ({
      name,
      async kill() {
        await rig.kill(name);
        await sleep(AWAY_MS).finally(() => rig.start(name));
      },
    })),
  ];
  const pool = new pg.Pool({ connectionString: region.url, max: 2 });
  pool.on('error', () => {});
  let load: Load | undefined;
  try {
    for (const role of ROLES) await start(role);
    const url = () => processes.get('api')?.url ?? '';
    // Cinder's NFS driver can't make a volume of an image larger.
    load = startLoad({ url, token: TOKEN, clients: CLIENTS, growing: false });
    // Machines have been made and rebooted by then.
    await expect.poll(() => load?.tasks.length, BEGUN).toBeGreaterThan(3 * CLIENTS);
    // Few kills are others in each run.
    const first = Math.floor(Math.random() * victims.length);
    for (let count = 0; count < KILLS; count++) {
      await sleep(500 + Math.random() * 3_000);
      const victim = victims[(first + count) % victims.length];
      await victim?.kill();
      process.stderr.write(`${load.tasks.length} tasks, killed ${victim?.name}\n`);
    }
    await load.stop();
    // When cinder-volume starts, volumes that it had begun end in an error, long before the deadline of their task.
    await rig.kill('cinder-volume');
    await rig.start('cinder-volume');
    await assertWhole(region, load, pool);
  } finally {
    await load?.stop();
    await Promise.all([...processes.values()].map((each) => each.end('SIGKILL')));
    await pool.end();
    await region.drop();
  }
}

async function assertWhole(region: CloudRegion, load: Load, pool: pg.Pool): Promise<void> {
  const rows = async (query: string) => (await pool.query(query)).rows;
  await expect.poll(() => rows(`select id, task_type from tasks where state in ('NEW', 'RUNNING')`), ENDED).toEqual([]);
  const unsettled =
    'select kind, id, doing, handle from wants where region_id = 1 and settled_generation is distinct from generation';
  await expect.poll(() => rows(unsettled), SETTLED).toEqual([]);
  expect(load.faults).toEqual([]);
  const known = await rows('select id::text from tasks');
  expect(known.map(({ id }) => id)).toEqual(expect.arrayContaining(load.tasks));
  const ends = await rows('select task_type, state, error, count(*)::int from tasks group by 1, 2, 3 order by 1, 2, 3');
  process.stderr.write(`${JSON.stringify(ends, undefined, 2)}\n`);
  for (const type of ['create_volume', 'create_vm'])
    expect(ends).toContainEqual(expect.objectContaining({ task_type: type, state: 'FINISHED' }));
  expect(ends.filter(({ state, error }) => state === 'ERROR' && !BROKEN_OFF.test(error))).toEqual([]);
  await assertAsWanted(region.project, pool);
}
