import path from 'node:path';
import pg from 'pg';
import { createClient } from '../peers/client.ts';
import { ours } from '../peers/servers.ts';
import { ROOT } from '../support/child.ts';
import { startDatabase } from '../support/database.ts';
import { startProduct } from '../support/product.ts';
import { markdownTable, shown } from '../support/table.ts';

/** Groups that are there meanwhile. */
const GROUPS = 3_000;
const CALLS = 400;
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

/** What one call takes, by operation. */
type Measured = Map<string, { ms: number; statements: Statement[] }>;

/**
 * Says what PostgreSQL does for single calls of one client, as its own extension counts it; with `against`, also for another
 * built checkout.
 */
export async function measureStatements({ quick, against }: { quick: boolean; against?: string }): Promise<string> {
  const size = quick ? { groups: GROUPS / 10, calls: CALLS / 4 } : { groups: GROUPS, calls: CALLS };
  const before = against === undefined ? undefined : await measure(path.resolve(against), size);
  const after = await measure(ROOT, size);
  const checkouts = [...(before ? [before] : []), after];
  const sums = [...after.keys()].map((operation) => [
    operation,
    ...checkouts.flatMap((measured) => {
      const { ms = Number.NaN, statements = [] } = measured.get(operation) ?? {};
      return [shown(ms), shown(sum(statements))];
    }),
  ]);
  const columns = ['ms for a call', 'of PostgreSQL, µs'];
  const heads = before ? [...columns.map((column) => `${column}, before`), ...columns] : columns;
  const each = [...after].flatMap(([operation, { statements }]) =>
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

async function measure(root: string, { groups, calls }: { groups: number; calls: number }): Promise<Measured> {
  const database = await startDatabase(SETTINGS);
  const statistics = new pg.Client({ ...database.connection, user: 'postgres' });
  const measured: Measured = new Map();
  try {
    await statistics.connect();
    await statistics.query('create extension pg_stat_statements');
    const product = await startProduct({ DATABASE_URL: database.url }, { root, role: 'api' });
    const { call, close } = createClient(product.port);
    let made = 0;
    const ids: string[] = [];
    const create = async () => void ids.push(ours.idIn(await call(ours.create(`bench-${++made}`))));
    const operations = {
      create,
      get: () => call(ours.read(ids[made++ % ids.length] ?? '')),
      'list 20': () => call(ours.list()),
      delete: () => call(ours.delete(ids.pop() ?? '')),
    };
    try {
      for (let n = 0; n < groups; n++) await create();
      for (const [name, operation] of Object.entries(operations)) {
        process.stderr.write(`${name} ...\n`);
        // Connections plan a statement anew for the first five times.
        for (let n = 0; n < calls / 4; n++) await operation();
        await statistics.query('select pg_stat_statements_reset()');
        const begun = performance.now();
        for (let n = 0; n < calls; n++) await operation();
        const ms = (performance.now() - begun) / calls;
        measured.set(name, { ms, statements: await statementsOf(statistics, calls) });
      }
    } finally {
      close();
      await product.stop();
    }
  } finally {
    await statistics.end();
    await database.stop();
  }
  return measured;
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
