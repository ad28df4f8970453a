import fs from 'node:fs';
import path from 'node:path';
import type pg from 'pg';
import { type Load, startLoad } from '../load/load.ts';
import { benchFile, startNode } from '../support/child.ts';
import { type BenchDatabase, openPool, startDatabase } from '../support/database.ts';
import { type Product, startProduct } from '../support/product.ts';
import type { MeasuredRequest, Operation } from './operation.ts';
import type { Plan } from './plan.ts';
import { prepareRequests } from './prepare.ts';
import { startRecorder } from './record.ts';
import { type AgainstFloor, checkoutsTable, floorTable } from './report.ts';
import { type Comparison, compare, type Rounds } from './rounds.ts';

const THOROUGH: Rounds = { rounds: 7, ms: 600, warmUpMs: 800, connections: 16 };
/** Of two checkouts, the difference may be small. */
const CHECKOUTS: Rounds = { rounds: 17, ms: 400, warmUpMs: 800, connections: 16 };
const QUICK: Rounds = { rounds: 3, ms: 500, warmUpMs: 500, connections: 16 };

interface Prepared {
  operation: Operation;
  request: MeasuredRequest;
  plan: Plan;
}

interface Options {
  quick: boolean;
  only?: string;
  /** The folder of another built checkout. */
  against?: string;
}

/** Measures each operation over HTTP against its floor, or against another checkout. Returns the report. */
export async function measureOperations(options: Options): Promise<string> {
  const skipped: string[] = [];
  const table = await (options.against === undefined
    ? againstFloor(options, skipped)
    : againstCheckout(path.resolve(options.against), options, skipped));
  return [table, ...skipped].join('\n');
}

async function againstFloor({ quick, only = '' }: Options, skipped: string[]): Promise<string> {
  const database = await startDatabase();
  const pool = openPool(database.connection);
  const load = startLoad();
  try {
    const prepared = await prepareAll([only], database, pool, skipped);
    const rounds = quick ? QUICK : THOROUGH;
    const results: AgainstFloor[] = [];
    const product = await startProduct({ DATABASE_URL: database.url }, { role: 'api' });
    try {
      for (const each of prepared) results.push(await measure(each, { product, database, load, rounds }));
    } finally {
      await product.stop();
    }
    return floorTable(results);
  } finally {
    load.stop();
    await pool.end();
    await database.stop();
  }
}

/** Each checkout has a database of its own, since their schemas differ. */
async function againstCheckout(root: string, { quick, only = '' }: Options, skipped: string[]): Promise<string> {
  const load = startLoad();
  const stops: (() => Promise<unknown>)[] = [];
  async function open(checkout: string | undefined) {
    const database = await startDatabase();
    stops.unshift(() => database.stop());
    const pool = openPool(database.connection);
    stops.unshift(() => pool.end());
    const requests = await prepareRequests([only], database, pool, skipped, checkout);
    const product = await startProduct({ DATABASE_URL: database.url }, { role: 'api', root: checkout });
    stops.unshift(() => product.stop());
    return { server: product, requests: new Map(requests.map(({ operation, request }) => [operation.name, request])) };
  }
  try {
    const [here, there] = [await open(undefined), await open(root)];
    const results: Comparison[] = [];
    for (const [name, request] of here.requests) {
      const alike = there.requests.get(name);
      if (!alike) {
        skipped.push(`Only in this checkout: ${name}`);
        continue;
      }
      process.stderr.write(`${name} ...\n`);
      const sides = {
        product: { server: here.server, request },
        other: { server: there.server, request: alike },
      };
      results.push(await compare(name, sides, load, quick ? QUICK : CHECKOUTS));
    }
    return checkoutsTable(results);
  } finally {
    load.stop();
    for (const stop of stops) await stop().catch(console.error);
  }
}

/** Makes what the operations need, and records their statements. */
async function prepareAll(
  only: readonly string[],
  database: BenchDatabase,
  pool: pg.Pool,
  skipped: string[],
): Promise<Prepared[]> {
  const requests = await prepareRequests(only, database, pool, skipped);
  const recorder = await startRecorder(database.url);
  try {
    const prepared: Prepared[] = [];
    for (const { operation, request } of requests) {
      prepared.push({ operation, request, plan: await recorder.record(request) });
    }
    return prepared;
  } finally {
    await recorder.stop();
  }
}

async function measure(
  { operation, request, plan }: Prepared,
  on: { product: Product; database: BenchDatabase; load: Load; rounds: Rounds },
): Promise<AgainstFloor> {
  const planFile = path.join(on.database.folder, 'plan.json');
  fs.writeFileSync(planFile, JSON.stringify(plan));
  const floor = await startNode(
    ['--import', 'tsx', benchFile('operations/floor.ts'), planFile, on.database.url],
    /listening on (\d+)\./,
  );
  try {
    process.stderr.write(`${operation.name} ...\n`);
    const sides = {
      product: { server: on.product, request },
      other: { server: { pid: floor.pid, port: Number(floor.ready[1]) }, request },
    };
    const comparison = await compare(operation.name, sides, on.load, on.rounds);
    const trips = plan.statements.filter(({ waited }) => waited).length;
    return { ...comparison, statements: plan.statements.length, trips, target: operation.target };
  } finally {
    await floor.stop();
  }
}
