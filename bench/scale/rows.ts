import pg from 'pg';
import type { Load } from '../load/load.ts';
import { type BenchDatabase, openPool, startDatabase } from '../support/database.ts';
import { type Product, startProduct, TOKEN } from '../support/product.ts';
import { median } from '../support/statistics.ts';
import { markdownTable, shown, shownWithRange } from '../support/table.ts';
import type { Curve, Section } from './chart.ts';
import { fillTables, LARGE_TOKEN, prepareTemplate } from './fill.ts';
import { requestsOf, type ScaledRequest } from './requests.ts';

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
/** The ratio is that of the last size to this one. */
const REFERENCE = 1_000;

interface Side {
  rows: number;
  pool: pg.Pool;
  product: Product;
}

/** Compares the same lists and reads on tables with ever more rows. */
export async function measureRows(load: Load, quick: boolean): Promise<Section> {
  const database = await startDatabase({ max_wal_size: '8GB' });
  const sides: Side[] = [];
  try {
    const begun = performance.now();
    await prepareTemplate(database);
    for (const rows of quick ? SIZES.slice(0, -1) : SIZES) sides.push(await openSide(database, rows));
    const loading = (performance.now() - begun) / 1000;
    const rows: string[][] = [];
    const curves: Curve[] = [];
    for (const [account, token] of [
      ['', TOKEN],
      [', half of all', LARGE_TOKEN],
    ] as const) {
      for (const measured of await compare(load, sides, token, quick)) {
        const name = `${measured.name}${account}`;
        rows.push([
          name,
          ...measured.p95.map(shown),
          `${median(measured.ratios) > measured.target ? 'MISSED ' : ''}${shownWithRange(measured.ratios)}`,
          String(measured.target),
        ]);
        if (account === '' && DRAWN.has(name))
          curves.push({ name, points: sides.map((side, at) => [side.rows, measured.p95[at] ?? Number.NaN]) });
      }
    }
    const header = ['p95 ms', ...sides.map((side) => `${side.rows.toLocaleString('en-US')} rows`), 'ratio', 'target'];
    return {
      title: 'Rows',
      text: `${ABOUT} Loading took ${shown(loading)} s.\n\n${markdownTable(header, rows)}`,
      charts: [{ title: 'p95 in ms, by rows of each table', logX: true, logY: true, curves }],
    };
  } finally {
    for (const { product, pool } of sides) {
      await pool.end();
      await product.stop();
    }
    await database.stop();
  }
}

const ABOUT = `Security groups with a rule, ports with an address, tasks and AI tasks: each table has this many rows. The account under test has
50 of them; "half of all" is an account with every second row, the rest belongs to twenty others. One request at a time; medians over the
rounds, in which the databases take turns. The ratio is that of the largest to ${REFERENCE.toLocaleString('en-US')} rows, in brackets the lowest and the highest of all rounds.`;
const DRAWN = new Set(['security groups', 'ports, 10', 'tasks', 'AI tasks', 'AI tasks, search for one']);

/** A database of its own on the same server, and an API process on it. */
async function openSide(database: BenchDatabase, rows: number): Promise<Side> {
  process.stderr.write(`${rows} rows ...\n`);
  const name = `rows_${rows}`;
  const admin = new pg.Client({ ...database.connection, database: 'postgres' });
  await admin.connect();
  await admin.query(`create database ${name} template ${database.connection.database}`);
  await admin.end();
  const connection = { ...database.connection, database: name };
  await fillTables(connection, rows);
  const url = new URL(database.url);
  url.pathname = `/${name}`;
  const product = await startProduct({ DATABASE_URL: url.href }, { role: 'api' });
  return { rows, pool: openPool(connection), product };
}

/** All sizes take turns in short rounds; figures are medians over the rounds. */
async function compare(load: Load, sides: readonly Side[], token: string, quick: boolean) {
  const asked = await Promise.all(sides.map(({ pool }) => requestsOf(pool, token)));
  const names = asked[0] ?? [];
  const results: { name: string; target: number; p95: number[]; ratios: number[] }[] = [];
  for (const [at, { name, target }] of names.entries()) {
    process.stderr.write(`${name} ...\n`);
    const rounds: number[][] = [];
    // The first round warms up.
    for (let round = 0; round <= (quick ? 3 : 5); round++) {
      const times: number[] = [];
      for (const [index, side] of sides.entries())
        times.push(await p95Of(load, side, asked[index]?.[at], token, quick ? 10 : 20));
      if (round > 0) rounds.push(times);
    }
    const reference = sides.findIndex(({ rows }) => rows === REFERENCE);
    results.push({
      name,
      target,
      p95: sides.map((_, index) => median(rounds.map((times) => times[index] ?? Number.NaN))),
      ratios: rounds.map((times) => (times.at(-1) ?? Number.NaN) / (times[reference] ?? Number.NaN)),
    });
  }
  return results;
}

async function p95Of(load: Load, { product }: Side, request: ScaledRequest | undefined, token: string, count: number) {
  if (!request) throw new Error('Every size has the same requests');
  const headers = { authorization: `apikey ${token}` };
  const job = {
    ports: [product.port],
    connections: 1,
    ms: 0,
    count,
    method: 'GET',
    paths: [request.path],
    headers,
  };
  return (await load.run(job)).p95;
}
