import { afterAll, expect, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { startPlatform } from '../../src/start/platform.ts';
import { outOfOrder, recordLocks } from './concurrency/lock-recorder.ts';
import { manyClients } from './concurrency/many-clients.ts';
import { environment } from './processes.ts';

// Only in this process can be seen in which order transactions lock.
const locks = recordLocks();
afterAll(locks.stop);

// Long enough for what collides often. What is rare comes in concurrency.slow.test.ts.
manyClients({
  seconds: 8,
  untilAllCame: false,
  async start(settings) {
    const config = loadConfig(environment({ ...settings, TRADEWIND_LOG_LEVEL: 'error' }));
    const platform = await startPlatform(config, 'all', createLog(config));
    return {
      url: `http://${platform.address?.host}:${platform.address?.port}`,
      async end() {
        await platform.stop(1_000);
        return 0;
      },
    };
  },
});

it('transactions have locked the rows of tables in one order', () => {
  expect(locks.pairs.size).toBeGreaterThan(0);
  expect(outOfOrder(locks.pairs)).toEqual([]);
});

it('locks in another order would be told', () => {
  const statement = 'select * from "instances" where "id" = $1 for update';
  const told = outOfOrder(new Map([['volumes instances', new Set([statement])]]));
  expect(told).toEqual([`instances after volumes: ${statement}`]);
});
