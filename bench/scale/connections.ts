import type pg from 'pg';
import type { LoadResult } from '../load/job.ts';
import type { Load } from '../load/load.ts';
import type { MeasuredRequest } from '../operations/operation.ts';
import { jobFor } from '../operations/rounds.ts';
import type { BenchDatabase } from '../support/database.ts';
import { type Product, startProduct } from '../support/product.ts';
import { median } from '../support/statistics.ts';
import { markdownTable, shown, shownWithRange } from '../support/table.ts';
import type { Section } from './chart.ts';

export interface Named {
  name: string;
  request: MeasuredRequest;
}

export interface Ground {
  database: BenchDatabase;
  pool: pg.Pool;
  load: Load;
  /** What is measured, prepared already. */
  reads: Named[];
  creation: Named;
  rounds: number;
  ms: number;
}

const CONNECTIONS = [1, 8, 64, 256];
const PROCESSES = [1, 2, 3, 4];
/** More than this many connections of one process are refused (src/db/database.ts): 8 of an account that work and 144 that wait. */
const CAPACITY = 152;
/** What a client waits after a refusal, as `Retry-After` says. */
const RETRY_AFTER_MS = 1_000;

/** The medians of some rounds, and the rate of each. */
type Measured = LoadResult & { rates: number[] };

async function measured(
  { load, rounds, ms }: Ground,
  { request }: Named,
  products: readonly Product[],
  connections: number,
  refusedMs?: number,
): Promise<Measured> {
  const results: LoadResult[] = [];
  const ports = products.map(({ port }) => port);
  // A refused client asks again.
  const roundMs = Math.max(ms, 3 * (refusedMs ?? 0));
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    const job = { ...jobFor(request, ports, roundMs, connections), ...(refusedMs !== undefined && { refusedMs }) };
    const result = await load.run(job);
    await request.reset?.();
    if (round > 0) results.push(result);
  }
  const of = (key: Exclude<keyof LoadResult, 'failure'>) => median(results.map((result) => result[key]));
  return {
    requests: of('requests'),
    seconds: of('seconds'),
    p50: of('p50'),
    p95: of('p95'),
    p99: of('p99'),
    refused: of('refused'),
    refusedP95: of('refusedP95'),
    rates: results.map(({ requests, seconds }) => requests / seconds),
  };
}

/** Writes of more connections than a process admits wait a second after each refusal, as they are told to. */
export async function measureConnections(ground: Ground): Promise<Section> {
  const product = await startProduct({ DATABASE_URL: ground.database.url }, { role: 'api' });
  try {
    const rows: string[][] = [];
    const times: Section['charts'][number]['curves'] = [];
    const rates: typeof times = [];
    for (const named of [...ground.reads, ground.creation]) {
      const p95: [number, number][] = [];
      const rate: [number, number][] = [];
      for (const connections of CONNECTIONS) {
        process.stderr.write(`${named.name}, ${connections} connections ...\n`);
        const isRefused = named === ground.creation && connections > CAPACITY;
        const result = await measured(ground, named, [product], connections, isRefused ? RETRY_AFTER_MS : undefined);
        rows.push([
          named.name,
          String(connections),
          shownWithRange(result.rates),
          ...[result.p50, result.p95, result.p99, result.refused / result.seconds].map(shown),
        ]);
        p95.push([connections, result.p95]);
        rate.push([connections, median(result.rates)]);
      }
      times.push({ name: named.name, points: p95 });
      rates.push({ name: named.name, points: rate });
    }
    return {
      title: 'Connections',
      text: `One API process; one request at a time on each connection; in brackets the slowest and the fastest round.\n\n${markdownTable(
        ['', 'connections', 'req/s', 'p50 ms', 'p95 ms', 'p99 ms', 'refused/s'],
        rows,
      )}`,
      charts: [
        { title: 'p95 in ms, by connections', logX: true, logY: true, curves: times },
        { title: 'Requests per second, by connections', logX: true, logY: true, curves: rates },
      ],
    };
  } finally {
    await product.stop();
  }
}

/** The same connections, spread over one to four processes on one database. */
export async function measureProcesses(ground: Ground): Promise<Section> {
  const products: Product[] = [];
  try {
    for (const _ of PROCESSES) {
      products.push(await startProduct({ DATABASE_URL: ground.database.url }, { role: 'api' }));
    }
    const rows: string[][] = [];
    const curves: Section['charts'][number]['curves'] = [];
    for (const named of [...ground.reads, ground.creation]) {
      const points: [number, number][] = [];
      for (const count of PROCESSES) {
        process.stderr.write(`${named.name}, ${count} processes ...\n`);
        const result = await measured(ground, named, products.slice(0, count), 64);
        points.push([count, median(result.rates)]);
        rows.push([named.name, String(count), shownWithRange(result.rates), ...[result.p50, result.p95].map(shown)]);
      }
      curves.push({ name: named.name, points });
    }
    return {
      title: 'API processes',
      text: `64 connections in all; in brackets the slowest and the fastest round. PostgreSQL and the load generator share the same processors, so more processes than those gain nothing.\n\n${markdownTable(
        ['', 'processes', 'req/s', 'p50 ms', 'p95 ms'],
        rows,
      )}`,
      charts: [{ title: 'Requests per second, by API processes', logX: false, logY: false, curves }],
    };
  } finally {
    for (const product of products) await product.stop();
  }
}

/** Whether what is accepted still gets its answer as quickly as at the limit. */
export async function measureOverload(ground: Ground): Promise<Section> {
  const product = await startProduct({ DATABASE_URL: ground.database.url }, { role: 'api' });
  try {
    const cases: [string, number, number | undefined][] = [
      ['half of the limit', CAPACITY / 2, undefined],
      ['the limit', CAPACITY, undefined],
      ['beyond it, asking again after a second as told', 256, RETRY_AFTER_MS],
      ['beyond it, asking again at once', 256, 0],
    ];
    const results: Measured[] = [];
    for (const [name, connections, refusedMs] of cases) {
      process.stderr.write(`Overload: ${name} ...\n`);
      // Longer than the slowest request.
      const long = { ...ground, ms: 3 * ground.ms };
      results.push(await measured(long, ground.creation, [product], connections, refusedMs));
    }
    const limit = results[1]?.p95 ?? Number.NaN;
    const rows = results.map((result, at) => [
      cases[at]?.[0] ?? '',
      String(cases[at]?.[1]),
      shownWithRange(result.rates),
      ...[result.p50, result.p95, result.p95 / limit, result.refused / result.seconds, result.refusedP95].map(shown),
    ]);
    return {
      title: 'Overload',
      text: `${ground.creation.name}. A process works on 8 changes of an account at a time, and 144 may wait; the others get a 503 with \`Retry-After\`.\n\n${markdownTable(
        ['', 'connections', 'accepted/s', 'p50 ms', 'p95 ms', 'of the limit', 'refused/s', 'p95 of a refusal'],
        rows,
      )}`,
      charts: [],
    };
  } finally {
    await product.stop();
  }
}

/** Fewer than the quota of volumes. */
const TASKS = 900;
const BUSY_MS = 2_000;

/** How long requests take while the same process works on many tasks. */
export async function measureBusy(ground: Ground): Promise<Section> {
  const idle = await readsAfterStart(ground);
  const waiting = await acceptTasks(ground);
  const busy = await readsAfterStart(ground);
  const rows = ground.reads.map(({ name }, at) => [
    name,
    ...[idle.results[at]?.p50, busy.results[at]?.p50, idle.results[at]?.p95, busy.results[at]?.p95].map((ms) =>
      shown(ms ?? Number.NaN),
    ),
  ]);
  return {
    title: 'Requests while tasks run',
    text: `One process with API and worker, 8 connections, right after its start. Of ${waiting} tasks, ${busy.left} were left when the measurement ended${busy.left === 0 ? ', so it was not busy all the time' : ''}.\n\n${markdownTable(
      ['', 'p50 ms, idle', 'busy', 'p95 ms, idle', 'busy'],
      rows,
    )}`,
    charts: [],
  };
}

/** Starts tasks that nobody works on yet. Returns how many there are. */
async function acceptTasks(ground: Ground): Promise<number> {
  const product = await startProduct({ DATABASE_URL: ground.database.url }, { role: 'api' });
  try {
    const request: MeasuredRequest = {
      method: 'POST',
      paths: ['/cloud/v1/volumes/1/1'],
      body: { name: 'busy', source: 'new-volume', size: 1 },
      count: TASKS,
    };
    await ground.load.run(jobFor(request, [product.port], 0, 16));
    return await unfinishedTasks(ground);
  } finally {
    await product.stop();
  }
}

async function readsAfterStart(ground: Ground): Promise<{ results: LoadResult[]; left: number }> {
  const { database, load, reads } = ground;
  const product = await startProduct({ DATABASE_URL: database.url, TRADEWIND_SIMULATION_SPEED: '100000' });
  try {
    const results: LoadResult[] = [];
    for (const { request } of reads) {
      results.push(await load.run(jobFor(request, [product.port], BUSY_MS / reads.length, 8)));
    }
    return { results, left: await unfinishedTasks(ground) };
  } finally {
    await product.stop();
  }
}

async function unfinishedTasks({ pool }: Ground): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(`select count(*) from tasks where state in ('NEW', 'RUNNING')`);
  return Number(rows[0]?.count);
}
