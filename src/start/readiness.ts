import type { ChangeFeed } from '../db/changes.ts';
import type { Database } from '../db/database.ts';
import type { Readiness } from '../http/health.ts';
import { someWorkerLives, type Worker } from '../workflows/engine.ts';

/** Every operation works when the database answers and a worker, here or elsewhere, takes tasks. */
export function createReadiness(deps: {
  database: Database;
  changes: ChangeFeed;
  worker: Worker | undefined;
}): Readiness {
  return {
    async check() {
      const database = await problemOf(async () => {
        await deps.database.pool.query('select 1');
        return undefined;
      }, 'the database does not answer');
      const workers =
        database === undefined
          ? await problemOf(async () => {
              const alive = deps.worker ? deps.worker.healthy() : await someWorkerLives(deps.database);
              return alive
                ? undefined
                : 'no worker takes tasks: start one with "tradewind serve --role worker"';
            }, 'the workers can not be seen')
          : undefined;
      return { database, workers };
    },
  };
}

async function problemOf(
  check: () => Promise<string | undefined>,
  failed: string,
): Promise<string | undefined> {
  try {
    return await check();
  } catch {
    return failed;
  }
}
