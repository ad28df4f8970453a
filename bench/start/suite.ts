import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../support/child.ts';
import { startDatabase } from '../support/database.ts';
import { type Product, startProduct } from '../support/product.ts';
import { median } from '../support/statistics.ts';
import { markdownTable, shownWithRange } from '../support/table.ts';
import { sendMixedRequests } from './mixed-load.ts';
import { type ProcessTree, processTree } from './process-tree.ts';

const REQUESTS = 10_000;
/** By then, idle connections to the database are closed and idle memory is given back. */
const REST_MS = 85_000;

type Figures = Record<string, number>;

/** The targets, by the name of the figure. */
const TARGETS: Figures = {
  'existing folder: s to ready': 1,
  'existing folder: CPU s to ready': 1.2,
  'empty folder: s to ready': 2.5,
  'empty folder: CPU s to ready': 2.5,
  'all in one: MB PSS at rest': 110,
  'all in one: MB PSS under load': 150,
  'all in one: processes': 10,
  'API process: MB RSS at rest': 90,
};

/**
 * Measures what a start and a running Tradewind need. With `against`, the folder of another built checkout,
 * both take turns.
 */
export async function measureStart({ quick, against }: { quick: boolean; against?: string }): Promise<string> {
  const rounds = quick ? 2 : 5;
  const checkouts = [...(against === undefined ? [] : [path.resolve(against)]), ROOT];
  const measured = checkouts.map(() => new Map<string, number[]>());
  for (let round = 0; round < rounds; round++) {
    for (const [place, root] of checkouts.entries()) {
      const figures = {
        ...(await startsOf(root)),
        ...(round === 0 && (await memoryOf(root))),
        ...sizeOf(root),
      };
      for (const [name, value] of Object.entries(figures))
        measured[place]?.set(name, [...(measured[place].get(name) ?? []), value]);
    }
  }
  const names = [...(measured[0]?.keys() ?? [])];
  return markdownTable(
    ['', ...(against === undefined ? ['median (and range)'] : ['before (and range)', 'after (and range)']), 'target'],
    names.map((name) => {
      const values = measured.map((each) => each.get(name) ?? []);
      const target = TARGETS[name];
      const missed = target !== undefined && median(values.at(-1) ?? []) > target ? 'MISSED ' : '';
      return [name, ...values.map(shownWithRange), target === undefined ? '' : `${missed}<= ${target}`];
    }),
  );
}

async function startsOf(root: string): Promise<Figures> {
  return inFolder(async (dataDir) => {
    const empty = await startOn(root, dataDir);
    const existing = await startOn(root, dataDir);
    return {
      'existing folder: s to ready': existing.seconds,
      'existing folder: CPU s to ready': existing.ready.cpuSeconds,
      'existing folder: CPU s two seconds later': existing.rested.cpuSeconds,
      'empty folder: s to ready': empty.seconds,
      'empty folder: CPU s to ready': empty.ready.cpuSeconds,
      'of those: CPU s to load the code': cpuSecondsToLoad(root),
    };
  });
}

async function startOn(root: string, dataDir: string) {
  const begun = performance.now();
  const product = await serve(root, { TRADEWIND_DATA_DIR: dataDir });
  const seconds = (performance.now() - begun) / 1000;
  const ready = processTree(product.pid);
  await sleep(2_000);
  const rested = processTree(product.pid);
  await product.stop();
  return { seconds, ready, rested };
}

/** One server after the other: those that run at the same time share pages. */
async function memoryOf(root: string): Promise<Figures> {
  const all = await inFolder(async (dataDir) => usedBy(await serve(root, { TRADEWIND_DATA_DIR: dataDir })));
  const database = await startDatabase();
  try {
    const api = await usedBy(await serve(root, { DATABASE_URL: database.url }, 'api'));
    return {
      'all in one: MB PSS at rest': all.rested.pssMegabytes,
      'all in one: MB PSS under load': all.loaded.pssMegabytes,
      'all in one: processes': all.rested.processes,
      'all in one: processes under load': all.loaded.processes,
      'all in one: CPU ms per request': all.cpuMillis,
      'API process: MB RSS at rest': api.rested.rssMegabytes,
      'API process: CPU ms per request': api.cpuMillis,
    };
  } finally {
    await database.stop();
  }
}

/** Sends many requests. Returns what the process tree uses right after them, and after a rest. */
async function usedBy(product: Product) {
  try {
    const before = processTree(product.pid).cpuSeconds;
    await sendMixedRequests(product.port, REQUESTS);
    const loaded: ProcessTree = processTree(product.pid);
    await sleep(REST_MS);
    const rested = processTree(product.pid);
    return { loaded, rested, cpuMillis: ((loaded.cpuSeconds - before) * 1000) / REQUESTS };
  } finally {
    await product.stop();
  }
}

/** With AI tasks, as by default. */
function serve(root: string, settings: Record<string, string>, role: 'all' | 'api' = 'all'): Promise<Product> {
  return startProduct({ TRADEWIND_AI_CONCURRENCY: '1', ...settings }, { role, root });
}

/** Node itself and the modules, measured by a command that does nothing else. */
function cpuSecondsToLoad(root: string): number {
  const program = ['dist/src/main.js', 'help'];
  const { stderr } = spawnSync(
    'bash',
    ['-c', 'TIMEFORMAT="%U %S"; time "$@" >/dev/null', '-', process.execPath, ...program],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  return stderr
    .trim()
    .split(' ')
    .reduce((sum, seconds) => sum + Number(seconds), 0);
}

/** Returns the size of the program and of the packages that it needs. */
function sizeOf(root: string): Figures {
  const lock = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
  };
  const packages = Object.entries(lock.packages)
    .filter(([name, { dev, devOptional }]) => name !== '' && !dev && !devOptional)
    .map(([name]) => path.join(root, name));
  const bytes = [path.join(root, 'dist'), ...packages].reduce((sum, folder) => sum + bytesIn(folder), 0);
  return { 'on disk: MB': bytes / 2 ** 20 };
}

/** Leaves out nested packages, which are listed by themselves. */
function bytesIn(folder: string): number {
  if (!fs.existsSync(folder)) return 0;
  return fs.readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? sum : sum + bytesIn(name);
    return sum + (entry.isFile() ? fs.statSync(name).size : 0);
  }, 0);
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-bench-'));
  try {
    return await work(folder);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
