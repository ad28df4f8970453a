import path from 'node:path';
import pg from 'pg';
import { createClient } from '../peers/client.ts';
import { ours } from '../peers/servers.ts';
import { ROOT } from '../support/child.ts';
import { startDatabase } from '../support/database.ts';
import { startProduct } from '../support/product.ts';
import { markdownTable, shown, shownWithRange } from '../support/table.ts';

/** Groups that are there meanwhile. */
const GROUPS = 3_000;
const CALLS = 50;
const ROUNDS = 8;
const SETTINGS = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track_planning': 'on',
};
/** Statements that take less than this for each call belong to the worker and the sweeps. */
const LEAST_MICROS = 2;

interface Statement {
  text: string;
  calls: number;
  execMicros: number;
  planMicros: number;
}

/** What a call takes in each round, and what PostgreSQL does for one, by operation. */
type Measured = Map<string, { ms: number[]; statements: Statement[] }>;

/**
 * Says what PostgreSQL does for single calls of one client, as its own extension counts it; with `against`, also for another
 * built checkout, in turns.
 */
export async function measureStatements({ quick, against }: { quick: boolean; against?: string }): Promise<string> {
  const size = quick ? { groups: GROUPS / 10, rounds: 2 } : { groups: GROUPS, rounds: ROUNDS };
  const roots = against === undefined ? [ROOT] : [path.resolve(against), ROOT];
  const checkouts: Checkout[] = [];
  try {
    for (const root of roots) checkouts.push(await open(root, size.groups));
    for (const name of OPERATIONS) {
      process.stderr.write(`${name} ...\n`);
      // Connections plan a statement anew for the first five times.
      for (const each of checkouts) await each.call(name, CALLS * 2);
      for (let round = 0; round < size.rounds; round++) {
        for (const each of round % 2 ? checkouts : checkouts.toReversed()) await each.measure(name, CALLS);
      }
    }
  } finally {
    await Promise.allSettled(checkouts.map((each) => each.close()));
  }
  const sums = OPERATIONS.map((operation) => [
    operation,
    ...checkouts.flatMap(({ measured }) => {
      const { ms = [], statements = [] } = measured.get(operation) ?? {};
      return [shownWithRange(ms), shown(sum(statements))];
    }),
  ]);
  const columns = ['ms for a call', 'of PostgreSQL, µs'];
  const heads = against ? [...columns.map((column) => `${column}, before`), ...columns] : columns;
  const each = [...(checkouts.at(-1)?.measured ?? [])].flatMap(([operation, { statements }]) =>
    statements.map(({ text, calls, execMicros, planMicros }) => [
      operation,
      text.slice(0, 90),
      calls.toFixed(2),
      shown(execMicros),
      shown(planMicros),
    ]),
  );
  return [
    markdownTable(['operation', ...heads], sums),
    '',
    markdownTable(['operation', 'statement', 'times', 'µs', 'planning, µs'], each),
  ].join('\n');
}

const OPERATIONS = ['create', 'get', 'list 20', 'delete'] as const;
type Operation = (typeof OPERATIONS)[number];

type Checkout = Awaited<ReturnType<typeof open>>;

/** Starts the checkout on a database of its own. */
async function open(root: string, groups: number) {
  const database = await startDatabase(SETTINGS);
  const statistics = new pg.Client({ ...database.connection, user: 'postgres' });
  await statistics.connect();
  await statistics.query('create extension pg_stat_statements');
  const product = await startProduct({ DATABASE_URL: database.url }, { root, role: 'api' }).catch(async (error) => {
    await statistics.end();
    await database.stop();
    throw error;
  });
  const client = createClient(product.port);
  let made = 0;
  const ids: string[] = [];
  const calls = {
    create: async () => void ids.push(ours.idIn(await client.call(ours.create(`bench-${++made}`)))),
    get: () => client.call(ours.read(ids[made++ % ids.length] ?? '')),
    'list 20': () => client.call(ours.list()),
    delete: () => client.call(ours.delete(ids.pop() ?? '')),
  };
  const measured: Measured = new Map();

  async function call(name: Operation, times: number): Promise<void> {
    for (let n = 0; n < times; n++) await calls[name]();
  }

  await call('create', groups);
  return {
    measured,
    call,
    async measure(name: Operation, times: number) {
      const former = measured.get(name)?.ms ?? [];
      if (former.length === 0) await statistics.query('select pg_stat_statements_reset()');
      const begun = performance.now();
      await call(name, times);
      const ms = [...former, (performance.now() - begun) / times];
      measured.set(name, { ms, statements: await statementsOf(statistics, times * ms.length) });
    },
    async close() {
      client.close();
      await product.stop();
      await statistics.end();
      await database.stop();
    },
  };
}

async function statementsOf(statistics: pg.Client, calls: number): Promise<Statement[]> {
  const { rows } = await statistics.query<Statement>(
    `select regexp_replace(query, '\\s+', ' ', 'g') as text, calls::float8 / $1::float8 as calls,
       total_exec_time * 1000 / $1::float8 as "execMicros", total_plan_time * 1000 / $1::float8 as "planMicros"
     from pg_stat_statements where query not like '%pg_stat_statements%'
     order by total_exec_time + total_plan_time desc`,
    [calls],
  );
  return rows.filter((row) => row.calls > 0.5 && sum([row]) >= LEAST_MICROS);
}

const sum = (statements: readonly Statement[]): number =>
  statements.reduce((all, { execMicros, planMicros }) => all + execMicros + planMicros, 0);
