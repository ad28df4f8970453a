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
import { comparisonTable } from './report.ts';
import { type Comparison, compare, type Rounds } from './rounds.ts';

const THOROUGH: Rounds = { rounds: 7, ms: 600, warmUpMs: 800, connections: 16 };
const QUICK: Rounds = { rounds: 3, ms: 500, warmUpMs: 500, connections: 16 };

interface Prepared {
  operation: Operation;
  request: MeasuredRequest;
  plan: Plan;
}

/** Measures each operation over HTTP against its floor. Returns the report. */
export async function measureOperations(options: { quick: boolean; only?: string }): Promise<string> {
  const database = await startDatabase();
  const pool = openPool(database.connection);
  const load = startLoad();
  const skipped: string[] = [];
  try {
    const prepared = await prepareAll([options.only ?? ''], database, pool, skipped);
    const rounds = options.quick ? QUICK : THOROUGH;
    const results: Comparison[] = [];
    const product = await startProduct({ DATABASE_URL: database.url }, { role: 'api' });
    try {
      for (const each of prepared) results.push(await measure(each, { product, database, load, rounds }));
    } finally {
      await product.stop();
    }
    return [comparisonTable(results), ...skipped].join('\n');
  } finally {
    load.stop();
    await pool.end();
    await database.stop();
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
): Promise<Comparison> {
  const planFile = path.join(on.database.folder, 'plan.json');
  fs.writeFileSync(planFile, JSON.stringify(plan));
  const floor = await startNode(
    ['--import', 'tsx', benchFile('operations/floor.ts'), planFile, on.database.url],
    /listening on (\d+)\./,
  );
  try {
    process.stderr.write(`${operation.name} ...\n`);
    const servers = {
      product: { pid: on.product.pid, port: on.product.port },
      floor: { pid: floor.pid, port: Number(floor.ready[1]) },
    };
    return await compare(operation, { request, plan }, servers, on.load, on.rounds);
  } finally {
    await floor.stop();
  }
}
