import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import type { DatabaseClock } from '../db/database-clock.ts';
import { type Loop, loop } from '../lib/loop.ts';
import type { RemovalTime } from './removal-time.ts';

const COMPARE_MS = 5_000;

/** What a process knows of time besides what its requests need. */
export interface Clocks {
  databaseClock: Pick<DatabaseClock, 'problem' | 'aheadMs'>;
  removalTime: Pick<RemovalTime, 'now' | 'problem' | 'lateMs'>;
}

/** A process whose clock begins to differ stops its regular work until it doesn't, and answers requests. */
export function keepComparing(
  clock: DatabaseClock,
  { database, log }: { database: Pick<Database, 'pool'>; log: Logger },
): Pick<Loop, 'stop'> {
  let known: string | undefined;
  return loop('comparing the clocks', COMPARE_MS, log, async () => {
    await clock.compare(database.pool);
    const problem = clock.problem();
    if (problem !== undefined && known === undefined)
      log.error(`Housekeeping and work on tasks stop: ${problem}`);
    if (problem === undefined && known !== undefined)
      log.info('The clock of this machine is that of the database again');
    known = problem;
  });
}
