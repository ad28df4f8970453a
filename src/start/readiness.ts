import type { Database } from '../db/database.ts';
import type { Readiness } from '../http/health.ts';
import { someWorkerLives } from '../workflows/engine.ts';

/** Every operation works when the database answers and a worker, here or elsewhere, takes tasks. */
export function createReadiness(database: Database): Readiness {
  return {
    async check() {
      const answers = await problemOf(async () => {
        await database.pool.query('select 1');
        return undefined;
      }, 'the database does not answer');
      if (answers !== undefined) return { database: answers };
      const workers = await problemOf(
        async () =>
          (await someWorkerLives(database))
            ? undefined
            : 'no worker takes tasks: start one with "tradewind serve --role worker"',
        'the workers can not be seen',
      );
      return { workers };
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
