import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startProduct } from '../support/product.ts';
import { median } from '../support/statistics.ts';
import { markdownTable, shown } from '../support/table.ts';

const TARGETS = { first: 3, later: 1 };

/** Measures elapsed time from the start of node to the ready line, including the embedded database. */
export async function measureStartup({ quick }: { quick: boolean }): Promise<string> {
  const runs = quick ? 2 : 5;
  const first: number[] = [];
  const later: number[] = [];
  const loading: number[] = [];
  for (let run = 0; run < runs; run++) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-bench-'));
    try {
      first.push(await secondsToReady(folder));
      later.push(await secondsToReady(folder));
      loading.push(secondsToLoad());
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  }
  return markdownTable(
    ['Start', 'median s', 'least s', 'most s', 'target'],
    [
      row('on an empty data folder', first, TARGETS.first),
      row('on a data folder that is there', later, TARGETS.later),
      row('of those: loading the code', loading),
    ],
  );
}

async function secondsToReady(dataDir: string): Promise<number> {
  const begun = performance.now();
  const product = await startProduct({ TRADEWIND_DATA_DIR: dataDir });
  const seconds = (performance.now() - begun) / 1000;
  await product.stop();
  return seconds;
}

/** Returns the time for node itself and the modules, which no faster database would save. */
function secondsToLoad(): number {
  const begun = performance.now();
  spawnSync(process.execPath, ['dist/src/main.js', 'help']);
  return (performance.now() - begun) / 1000;
}

function row(name: string, seconds: readonly number[], target?: number): string[] {
  const middle = median(seconds);
  const missed = target !== undefined && middle >= target ? 'MISSED ' : '';
  return [
    name,
    shown(middle),
    shown(Math.min(...seconds)),
    shown(Math.max(...seconds)),
    target === undefined ? '' : `${missed}< ${target}`,
  ];
}
