import fs from 'node:fs';
import path from 'node:path';
import { startLoad } from '../load/load.ts';
import { prepareRequests } from '../operations/prepare.ts';
import { jobFor } from '../operations/rounds.ts';
import { ROOT } from '../support/child.ts';
import { openPool, startDatabase } from '../support/database.ts';
import { cpuMicros } from '../support/process-cpu.ts';
import { type Product, startProduct } from '../support/product.ts';
import { markdownTable, shown } from '../support/table.ts';
import { ALL_PARTS, filesOfBundle, OWN, type Profile, timeByPart } from './parts.ts';

const CONNECTIONS = 16;
const WARM_UP_MS = 2000;
const SAMPLE_MICROS = '500';
/** The size of the heap before and after, in the lines of --trace-gc. */
const COLLECTION = /(\d+\.\d) \(\d+\.\d\) -> (\d+\.\d) \(/g;

interface Loaded {
  name: string;
  requests: number;
  from: number;
  to: number;
  /** By the system's count, for comparison. */
  cpu: number;
  allocated: number;
}

/** Says on what the product spends the time of each operation. Returns the report. */
export async function profileOperations(options: { quick: boolean; only?: string }): Promise<string> {
  const database = await startDatabase();
  const pool = openPool(database.connection);
  const load = startLoad();
  const skipped: string[] = [];
  try {
    const prepared = await prepareRequests([options.only ?? ''], database, pool, skipped);
    const folder = path.join(database.folder, 'profile');
    const product = await startProduct(
      { DATABASE_URL: database.url },
      {
        role: 'api',
        nodeArgs: ['--trace-gc', '--cpu-prof', '--cpu-prof-interval', SAMPLE_MICROS, `--cpu-prof-dir=${folder}`],
      },
    );
    const allocated = allocations(product);
    const all: Loaded[] = [];
    try {
      for (const { operation, request } of prepared) {
        process.stderr.write(`${operation.name} ...\n`);
        await load.run(jobFor(request, [product.port], WARM_UP_MS, CONNECTIONS));
        await request.reset?.();
        const from = micros();
        const before = { cpu: cpuMicros(product.pid), allocated: allocated() };
        const { requests } = await load.run(jobFor(request, [product.port], options.quick ? 1000 : 4000, CONNECTIONS));
        all.push({
          name: operation.name,
          requests,
          from,
          to: micros(),
          cpu: cpuMicros(product.pid) - before.cpu,
          allocated: allocated() - before.allocated,
        });
        await request.reset?.();
      }
    } finally {
      await product.stop();
    }
    return [report(all, readProfile(folder)), ...skipped].join('\n');
  } finally {
    load.stop();
    await pool.end();
    await database.stop();
  }
}

function report(all: readonly Loaded[], profile: Profile): string {
  const fileAt = filesOfBundle(path.join(ROOT, 'dist/src/bundle.js'));
  const columns = all.map((loaded) => ({ loaded, times: timeByPart(profile, fileAt, loaded) }));
  if (columns.some(({ times }) => !times.has(OWN))) throw new Error("No code of the bundle's was recognised.");
  const rows = ALL_PARTS.map((part) => [
    part,
    ...columns.map(({ loaded, times }) => shown((times.get(part) ?? 0) / loaded.requests)),
  ]);
  const sums = columns.map(({ loaded, times }) =>
    shown([...times.values()].reduce((sum, time) => sum + time, 0) / loaded.requests),
  );
  const perRequest = (of: (loaded: Loaded) => number) => all.map((loaded) => shown(of(loaded) / loaded.requests));
  return markdownTable(
    ['µs per request', ...all.map(({ name }) => name)],
    [
      ...rows,
      ['all', ...sums],
      ['CPU time by the system', ...perRequest(({ cpu }) => cpu)],
      ['allocated, KB', ...perRequest(({ allocated }) => allocated / 1000)],
    ],
  );
}

/** Returns a function that tells how many bytes the process has allocated until its latest garbage collection. */
function allocations({ process: { stdout } }: Product): () => number {
  let megabytes = 0;
  let left = Number.NaN;
  stdout?.on('data', (text: string) => {
    for (const [, before, after] of text.matchAll(COLLECTION)) {
      megabytes += Number(before) - (Number.isNaN(left) ? Number(before) : left);
      left = Number(after);
    }
  });
  return () => megabytes * 2 ** 20;
}

function readProfile(folder: string): Profile {
  const [name = ''] = fs.readdirSync(folder);
  return JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')) as Profile;
}

/** By the clock of the profile. */
function micros(): number {
  return Number(process.hrtime.bigint() / 1000n);
}
