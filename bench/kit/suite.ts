import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type Api, createApi } from '../support/api.ts';
import { startProduct } from '../support/product.ts';
import { percentile } from '../support/statistics.ts';
import { markdownTable, shown } from '../support/table.ts';

const KIT = '/tradewind/v1/test';
const TARGET_MS = 100;
/** Of each kind, made before every reset: a hundred resources together. */
const GROUPS = 50;
const VOLUMES = 50;

/** Measures how long the test kit takes to bring a hundred resources back to what was there before. */
export async function measureKit({ quick }: { quick: boolean }): Promise<string> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-bench-'));
  const product = await startProduct({
    TRADEWIND_DATA_DIR: folder,
    TRADEWIND_TEST_API: 'true',
    TRADEWIND_SIMULATION_SPEED: '100000',
  });
  try {
    const api = createApi(product.port);
    const times = new Map<string, number[]>();
    const timed = async (name: string, path: string, body: object) => {
      const begun = performance.now();
      await api.call('POST', `${KIT}${path}`, body);
      times.set(name, [...(times.get(name) ?? []), performance.now() - begun]);
    };
    for (let round = 0; round < (quick ? 5 : 30); round++) {
      await makeHundred(api, round);
      await timed('snapshot of a hundred', '/snapshots', { name: `bench-${round}` });
      await timed('restore of that snapshot', `/snapshots/bench-${round}/restore`, {});
      await api.call('DELETE', `${KIT}/snapshots/bench-${round}`);
      await timed('reset of a hundred', '/reset', { scope: 'all' });
    }
    const rows = [...times].map(([name, each]) => {
      const [middle, high] = [0.5, 0.95].map((share) => percentile(each, share));
      return [
        name,
        String(each.length),
        shown(middle ?? 0),
        `${(high ?? 0) > TARGET_MS ? 'MISSED ' : ''}${shown(high ?? 0)}`,
      ];
    });
    return `${markdownTable(['', 'times', 'p50 ms', 'p95 ms'], rows)}\n\nThe target is ${TARGET_MS} ms.`;
  } finally {
    await product.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function makeHundred(api: Api, round: number): Promise<void> {
  for (let n = 0; n < GROUPS; n++) {
    const security_group = { name: `bench-${round}-${n}`, security_group_rules: [] };
    await api.call('POST', '/cloud/v1/securitygroups/1/1', { security_group });
  }
  const made = await Promise.all(
    Array.from({ length: VOLUMES }, (_, n) =>
      api.call('POST', '/cloud/v1/volumes/1/1', {
        name: `bench-${round}-${n}`,
        source: 'new-volume',
        size: 1,
      }),
    ),
  );
  for (const [id] of made as string[][]) {
    await api.call('GET', `/v1/tasks/${id}`, undefined, { prefer: 'wait=30' });
  }
}
