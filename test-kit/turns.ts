import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { type Database, type Transaction, TURN } from '../src/db/database.ts';
import { ConflictError } from '../src/lib/errors.ts';

/** Less than PostgreSQL waits before it looks for a deadlock, so that it never ends somebody else's statement for one of ours. */
const PATIENCE_MS = 500;
const MOST_MS = 60_000;
/** Canceled after the patience, deadlock, and a table that was dropped since it was found. */
const GAVE_WAY = new Set(['57014', '40P01', '42P01']);

/**
 * Runs `work` in a transaction while no other one is at work and nothing writes to the tables that `lock` takes. It doesn't
 * wait long for what may wait for it: it lets go of all, and begins again. The turn ends with `after`, which tells the
 * process what was committed: two of them in another order would leave it with what is true no more. @throws ConflictError
 * if it never gets its turn
 */
export type Alone = <T>(
  lock: (client: Transaction['client']) => Promise<unknown>,
  work: (tx: Transaction) => Promise<T>,
  after?: (result: T) => Promise<void>,
) => Promise<T>;

export function createTurns(database: Pick<Database, 'transaction'>, mostMs = MOST_MS): Alone {
  // Each holds its own part of the turn already: two would wait for each other.
  const oneAtATime = pLimit(1);
  return (lock, work, after) =>
    oneAtATime(async () => {
      const deadline = performance.now() + mostMs;
      for (;;) {
        let locked = false;
        try {
          const result = await database.transaction(async (tx) => {
            const { client } = tx;
            // The transaction may have been tried before.
            locked = false;
            await client.query(`set local statement_timeout = ${PATIENCE_MS}`);
            await client.query(`select pg_advisory_xact_lock(${TURN})`);
            await lock(client);
            await client.query('set local statement_timeout to default');
            locked = true;
            return work(tx);
          });
          await after?.(result);
          return result;
        } catch (error) {
          if (locked || !gaveWay(error)) throw error;
          if (performance.now() > deadline) throw neverAlone(error, mostMs);
        }
        await sleep(PATIENCE_MS * Math.random());
      }
    });
}

function neverAlone(cause: unknown, afterMs: number): ConflictError {
  const conflict = new ConflictError(
    `Requests, tasks or programs of your own at the database were writing for ${afterMs / 1_000} seconds without a pause, or one of them keeps a transaction open; let them end, and try again`,
  );
  conflict.cause = cause;
  return conflict;
}

function gaveWay(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return GAVE_WAY.has((cause as NodeJS.ErrnoException).code ?? '');
}
