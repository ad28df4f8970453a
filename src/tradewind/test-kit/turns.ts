import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { type Database, type Transaction, TURN } from '../../db/database.ts';

/** Less than PostgreSQL waits before it looks for a deadlock, so that it never ends somebody else's statement for one of ours. */
const PATIENCE_MS = 500;
const MOST_MS = 60_000;
/** Canceled after the patience, deadlock. */
const GAVE_WAY = new Set(['57014', '40P01']);

/**
 * Runs `work` in a transaction while no other one is at work and nothing writes to the tables that `lock` takes. It doesn't
 * wait long for what may wait for it: it lets go of all, and begins again.
 */
export type Alone = <T>(
  lock: (client: Transaction['client']) => Promise<unknown>,
  work: (tx: Transaction) => Promise<T>,
) => Promise<T>;

export function createTurns(database: Pick<Database, 'transaction'>): Alone {
  // Each holds its own part of the turn already: two would wait for each other.
  const oneAtATime = pLimit(1);
  return (lock, work) =>
    oneAtATime(async () => {
      const deadline = performance.now() + MOST_MS;
      for (;;) {
        let locked = false;
        try {
          return await database.transaction(async (tx) => {
            const { client } = tx;
            await client.query(`set local statement_timeout = ${PATIENCE_MS}`);
            await client.query(`select pg_advisory_xact_lock(${TURN})`);
            await lock(client);
            await client.query('set local statement_timeout to default');
            locked = true;
            return work(tx);
          });
        } catch (error) {
          if (locked || !gaveWay(error) || performance.now() > deadline) throw error;
        }
        await sleep(PATIENCE_MS * Math.random());
      }
    });
}

function gaveWay(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return GAVE_WAY.has((cause as NodeJS.ErrnoException).code ?? '');
}
