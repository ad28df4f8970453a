import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activateAiFeatures } from '../../support/ai-tasks.ts';
import { catalogWithQuotas } from '../../support/catalogs.ts';
import { createCoverage } from '../../support/coverage.ts';
import { createDatabase, type TestDatabase } from '../../support/databases.ts';
import { createHttpClient, type HttpClient } from '../../support/http-client.ts';
import { documentedOperations } from '../../support/openapi.ts';
import { build, type ServeProcess, serve, temporaryFolder } from '../processes.ts';
import { ACTIONS, actOnce } from './actions.ts';
import { brokenInvariants } from './invariants.ts';
import { mayStand } from './ledger.ts';
import { createRandom } from './random.ts';
import { type Account, createScope, createWorker, createWorld, type Infrastructure } from './world.ts';

const CLIENTS = Number(process.env.CONCURRENCY_CLIENTS ?? 50);
const SEED = Number(process.env.CONCURRENCY_SEED ?? Date.now() % 1_000_000);
const TOKEN = '7_acceptance-secret';

/** So low that all of them are used up. */
const QUOTAS = {
  cluster_count: 3,
  firewall_count: 14,
  network_count: 6,
  sfs_count: 4,
  snapshot_count: 10,
  subnet_count: 10,
  vm_count: 12,
  volume_count: 20,
};

// Actions that consist of several have their parts in the statistics. DDoS profiles are few and go with their addresses, so
// that what is done to them may not come in every run.
const NOT_AWAITED = ['fill and delete a project', 'protect address', 'switch protection', 'end protection'];
const NAMES = Object.keys(ACTIONS).filter((name) => !NOT_AWAITED.includes(name));

const COLLISIONS = [
  /^create volume 403$/,
  /^create instance 403$/,
  /^Subnet .* has no free addresses/,
  /^A security group named/,
  /is held by task/,
  /^Volume <id> is attached to instance/,
];

/**
 * Tests that many clients of three accounts may randomly do what collides: the same names, the last of a quota, the last
 * address, a volume for two instances, a change of what another deletes.
 */
export function manyClients({
  seconds,
  untilAllCame,
  clients = CLIENTS,
  start = serve,
  infrastructure,
}: {
  seconds: number;
  clients?: number;
  /** Goes on until every action has succeeded and every collision has come, and fails if that takes too long. */
  untilAllCame: boolean;
  /** Starts what the clients ask: by default a process of its own. */
  start?: (settings: Record<string, string>) => Promise<Pick<ServeProcess, 'url' | 'end'>>;
  /** What the regions are on: by default simulations. */
  infrastructure?: Infrastructure;
}): void {
  /** On a slow machine it takes longer until everything has been tried. */
  const mostSeconds = Math.max(2 * seconds, 180);
  const world = createWorld(infrastructure);
  const { ledger, statistics } = world;
  const catalog = catalogWithQuotas(QUOTAS);
  const dataDir = temporaryFolder();

  let coverage: ReturnType<typeof createCoverage>;
  let database: TestDatabase;
  let service: Pick<ServeProcess, 'url' | 'end'>;
  let pool: pg.Pool;
  const accounts: Account[] = [];

  beforeAll(async () => {
    say(`seed ${SEED}, ${clients} clients, ${seconds} s`);
    build();
    coverage = createCoverage(await documentedOperations());
    database = await createDatabase({ empty: true });
    service = await start({
      DATABASE_URL: database.url,
      TRADEWIND_DATA_DIR: dataDir,
      TRADEWIND_CATALOG_DIR: catalog,
      TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
      TRADEWIND_RATE_LIMIT: '0',
      TRADEWIND_SIMULATION_SPEED: '200',
      ...(await infrastructure?.settings(catalog)),
    });
    pool = new pg.Pool({ connectionString: database.url, max: 4 });
    const first = createHttpClient(service.url, TOKEN);
    accounts.push(await prepared('one', 1, first));
    for (const name of ['two', 'three']) accounts.push(await newAccount(name, first));
  }, 120_000);

  afterAll(async () => {
    await service?.end();
    await pool?.end();
    await database?.drop();
    for (const folder of [catalog, dataDir]) fs.rmSync(folder, { recursive: true, force: true });
  });

  it(
    `${clients} clients at once for ${seconds} s (seed ${SEED}) are never failed and never told what is not documented`,
    async () => {
      const began = Date.now();
      const past = () => (Date.now() - began) / 1_000;
      // Some need what only a rare action makes.
      const wanting = () => (past() > seconds / 2 ? missing() : []);
      const isOver = () => past() > mostSeconds || (past() > seconds && !(untilAllCame && missing().length > 0));
      const progress = setInterval(() => say(state(past())), 5_000);
      const workers = Array.from({ length: clients }, async (_, index) => {
        const account = accounts[index % accounts.length];
        if (!account) return;
        const worker = createWorker(world, account, createRandom(SEED * 1_000 + index), `c${index}`);
        while (!isOver()) {
          await actOnce(worker, wanting()).catch((error: Error) => statistics.faults.push(`${error.stack}`));
        }
      });
      await Promise.all(workers);
      // Whoever follows a task waits for it long enough.
      while ([...world.tasks.values()].some(({ ended }) => !ended)) await sleep(100);
      clearInterval(progress);
      say(state(past()));
      if (untilAllCame) say(summary());
      expect(statistics.faults).toEqual([]);
      expect(coverage.undocumented()).toEqual([]);
    },
    mostSeconds * 1_000 + world.taskWithinMs + 60_000,
  );

  describe('afterwards', () => {
    it.runIf(untilAllCame)('every kind of action has succeeded, and the collisions have come', () => {
      expect(missing()).toEqual([]);
    });

    it('nothing is broken in the database', async () => {
      // The engine finishes its records a moment after the end of a task.
      await expect.poll(() => brokenInvariants(pool), { timeout: world.taskWithinMs, interval: 500 }).toEqual([]);
    });

    it.runIf(infrastructure)('the infrastructure is as it is wanted', () => infrastructure?.assertAsWanted(pool));

    it('no two transactions have waited for each other', async () => {
      const { rows } = await pool.query(
        'select deadlocks::int from pg_stat_database where datname = current_database()',
      );
      expect(rows).toEqual([{ deadlocks: 0 }]);
    });

    it('ids of tasks grow with time', async () => {
      const { rows } = await pool.query(`select id, task_type from tasks where substr(id::text, 15, 1) <> '7'`);
      expect(rows).toEqual([]);
    });

    it('no address is with two ports, as clients see it', async () => {
      for (const { http, scopes } of accounts) {
        for (const { place } of scopes) {
          const { body } = await http.get(`/cloud/v1/ports${place}?limit=1000`);
          const addresses = (body.results as { ip_assignments: object[] }[])
            .flatMap((port) => port.ip_assignments)
            .map((one) => JSON.stringify(one));
          expect(addresses.filter((one, index) => addresses.indexOf(one) !== index)).toEqual([]);
        }
      }
    });

    it('what was acknowledged is there, and what was deleted is not', async () => {
      expect(ledger.impossible()).toEqual([]);
      const wrong: string[] = [];
      const lives = ledger.lives();
      await inParallel(lives, async ({ path, account, alive }) => {
        const { status, text } = await readerOf(account).get(path);
        if (status !== (alive ? 200 : 404))
          wrong.push(`${path} should be ${alive ? 'there' : 'gone'}: ${status} ${text}`);
      });
      expect(wrong).toEqual([]);
      expect(lives.length).toBeGreaterThan(seconds);
    });

    it('no acknowledged change is lost, and each is a revision', async () => {
      const wrong: string[] = [];
      await inParallel(
        ledger.lives().filter(({ alive }) => alive),
        async ({ path, account }) => {
          const { body } = await readerOf(account).get(path);
          for (const [field, writes] of ledger.writesTo(path)) {
            const [group = '', key] = field.split('.');
            const value = key === undefined ? body[group] : valueOfTag(body, key);
            if (!mayStand(value, writes)) {
              wrong.push(`${path} ${field} is ${value}, written were ${JSON.stringify(writes.slice(-5))}`);
            }
          }
          if (path.includes('/securitygroups/') && body.revision_number !== 1 + ledger.changesOf(path)) {
            wrong.push(`${path} has revision ${body.revision_number} after ${ledger.changesOf(path)} changes`);
          }
        },
      );
      expect(wrong).toEqual([]);
    });
  });

  /** A key that isn't shared is only visible to its user. */
  function readerOf(account: string): HttpClient {
    return (accounts.find(({ name }) => name === account) as Account).http;
  }

  async function newAccount(name: string, first: HttpClient): Promise<Account> {
    const { body } = await first.post('/iam/clients/create', { company: name });
    await activateAiFeatures(first, body.id);
    const token = await first.post(`/iam/v2/clients/${body.id}/tokens`, {
      name: 'test',
      exp_date: null,
      client_user: { role: { name: 'Administrators' } },
    });
    return prepared(name, body.id, createHttpClient(service.url, token.body.token));
  }

  /** Prepares two projects; the first one in two regions. */
  async function prepared(name: string, clientId: number, plain: HttpClient): Promise<Account> {
    const http = coverage.recording(plain);
    const own = (await http.get('/cloud/v1/projects')).body.results[0].id;
    const second = (await http.post('/cloud/v1/projects', { name: 'second' })).body.id;
    const scopes = [createScope(name, own, 1), createScope(name, second, 1), createScope(name, own, 2)];
    return { name, clientId, http, scopes };
  }

  /** Returns the actions that have not succeeded yet, and the collisions that have not occurred. */
  function missing(): string[] {
    const succeeded = new Set(
      [...statistics.answers.keys()].flatMap((key) => (/ 20\d$/.test(key) ? [key.replace(/ \d+$/, '')] : [])),
    );
    const came = [...statistics.answers.keys(), ...statistics.conflicts.keys()];
    return [
      ...NAMES.filter((name) => !succeeded.has(name)),
      ...COLLISIONS.filter((text) => !came.some((one) => text.test(one))).map(String),
    ];
  }

  function state(past: number): string {
    const { answers, faults } = statistics;
    const byStatus = new Map<string, number>();
    for (const [key, count] of answers) {
      const status = / (\d{3})$/.exec(key)?.[1];
      if (status !== undefined) byStatus.set(status, (byStatus.get(status) ?? 0) + count);
    }
    const open = [...world.tasks.values()].filter(({ ended }) => !ended).length;
    const statuses = [...byStatus].sort(byKey).map(([status, count]) => `${status}: ${count}`);
    const wanting = untilAllCame && past > seconds ? `; still to come: ${missing().join(', ') || 'nothing'}` : '';
    return `${Math.round(past)} of ${seconds} s; answers ${statuses.join(', ')}; tasks ${world.tasks.size}, ${open} open; faults ${faults.length}${wanting}`;
  }

  function summary(): string {
    const lines = (counts: Map<string, number>) => [...counts].sort(byKey).map(([key, count]) => `  ${count} x ${key}`);
    return [
      'answers',
      ...lines(statistics.answers),
      'conflicts',
      ...lines(statistics.conflicts),
      'refused as invalid',
      ...lines(statistics.invalid),
    ].join('\n');
  }
}

/** Tags are shown as a list of pairs or as an object. */
function valueOfTag(body: { tags?: unknown; tags_v2?: unknown }, key: string): unknown {
  const list = body.tags_v2 ?? body.tags;
  if (Array.isArray(list)) return (list as { key: string; value: string }[]).find((tag) => tag.key === key)?.value;
  return (list as Record<string, string> | undefined)?.[key];
}

async function inParallel<T>(list: T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = list.values();
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      for (const item of rest) await work(item);
    }),
  );
}

const byKey = ([one]: [string, number], [other]: [string, number]) => (one < other ? -1 : 1);

/** Writes to the terminal at once, so that a long run shows its progress. */
function say(text: string): void {
  process.stderr.write(`concurrency: ${text}\n`);
}
