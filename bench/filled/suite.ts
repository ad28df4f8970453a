import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchDatabase } from '../support/database.ts';
import { type Product, startProduct } from '../support/product.ts';
import { percentile } from '../support/statistics.ts';
import { markdownTable, shown } from '../support/table.ts';
import { measureDrops } from './drops.ts';
import { type Amounts, fillDatabase } from './load.ts';
import { createTimedApi, TURNS, type Turn } from './requests.ts';

const EMPTY: Amounts = { tasks: 0, actions: 0, copies: 0 };
const FILLED: Amounts = { tasks: 990_000, actions: 495_000, copies: 4_800 };
const LARGE: Amounts = { tasks: 3_990_000, actions: 1_995_000, copies: 1_000 };
/** What reads or writes tasks or the log: creation, polling, their lists. */
const OF_TASKS_AND_LOG = /^volume$|task|log|action/i;
const TARGET = 1.5;
/** Time for a start to compare everything that is wanted with what exists. */
const STARTED_MS = 15_000;
/** Calls of each side: seven of them take longer than the p95. */
const THOROUGH = { warmUp: 20, calls: 150 };
const QUICK = { warmUp: 5, calls: 60 };

interface Side {
  database: BenchDatabase;
  product: Product;
}
type Times = Map<string, number[]>;

/** Compares an account on full tables with the same account on tables that nobody else uses. */
export async function measureFilled({ quick, only = '' }: { quick: boolean; only?: string }): Promise<string> {
  return measure({ quick, only, filled: FILLED });
}

/** The same with years of use, and then quarters of it are dropped while requests go on. */
export async function measureRetention({ quick, only = '' }: { quick: boolean; only?: string }): Promise<string> {
  return measure({ quick, only, filled: quick ? FILLED : LARGE, dropping: true });
}

async function measure({
  quick,
  only,
  filled: amounts,
  dropping = false,
}: {
  quick: boolean;
  only: string;
  filled: Amounts;
  dropping?: boolean;
}): Promise<string> {
  const turns = TURNS.filter(({ name }) => name.toLowerCase().includes(only.toLowerCase())).filter(
    ({ name }) => !dropping || OF_TASKS_AND_LOG.test(name),
  );
  const sides: Side[] = [];
  try {
    const begun = performance.now();
    for (const more of [EMPTY, amounts]) {
      const database = await fillDatabase(more);
      sides.push({ database, product: await startSide(database) });
    }
    const loading = `Loading took ${shown((performance.now() - begun) / 1_000)} s`;
    const [empty, filled] = sides.map(({ product }) => createTimedApi(product.port));
    if (!empty || !filled) throw new Error('There are two sides');
    await sleep(STARTED_MS);
    const rows: string[][] = [];
    for (const { name, turn } of turns) {
      process.stderr.write(`${name} ...\n`);
      rows.push(...(await compare(turn, { empty, filled }, quick ? QUICK : THOROUGH)));
    }
    const header = ['', 'p50 ms, empty', 'filled', 'ratio', 'p95 ms, empty', 'filled', 'ratio'];
    const drops = dropping && sides[1] ? await measureDrops(sides[1].database, filled) : '';
    return `${markdownTable(header, rows)}\n\nThe target of each ratio is ${TARGET}. ${loading}.${drops}`;
  } finally {
    for (const { database, product } of sides) {
      await product.stop();
      await database.stop();
    }
  }
}

function startSide(database: BenchDatabase): Promise<Product> {
  return startProduct({
    DATABASE_URL: database.url,
    TRADEWIND_DATA_DIR: database.folder,
    // Simulated work takes no time: only Tradewind's own remains.
    TRADEWIND_SIMULATION_SPEED: '100000',
  });
}

/** Both sides take turns with each call, so that whatever else the machine does slows both alike. */
async function compare(
  turn: Turn,
  sides: Record<'empty' | 'filled', ReturnType<typeof createTimedApi>>,
  { warmUp, calls }: typeof THOROUGH,
): Promise<string[][]> {
  const names = ['empty', 'filled'] as const;
  const times: Record<'empty' | 'filled', Times> = { empty: new Map(), filled: new Map() };
  for (let call = -warmUp; call < calls; call++) {
    for (const side of call % 2 === 0 ? names : names.toReversed()) {
      const note = (name: string, ms: number) =>
        call < 0 || times[side].set(name, [...(times[side].get(name) ?? []), ms]);
      await turn(sides[side], note, `bench-${call}`);
    }
  }
  return [...times.empty.keys()].map((name) => {
    const cells = [0.5, 0.95].flatMap((share) => {
      const small = percentile(times.empty.get(name) ?? [], share);
      const large = percentile(times.filled.get(name) ?? [], share);
      const ratio = large / small;
      return [shown(small), shown(large), `${ratio > TARGET ? 'MISSED ' : ''}${shown(ratio)}`];
    });
    return [name, ...cells];
  });
}
