import { sql } from 'kysely';
import type { Sql } from './database.ts';

/*
 * Numbers from a sequence are taken before their transaction commits, so a smaller one may appear after a larger one.
 * Whoever reads in their order takes a transaction number after having seen a number of a row: nobody can write a
 * smaller one any more once all transactions before that have ended.
 */

/** Takes a transaction number of its own, which is larger than those of all transactions that have one by now. */
export async function takeNumber(db: Sql): Promise<bigint> {
  const { rows } = await sql<{ number: string }>`select pg_current_xact_id()::text as number`.execute(db);
  return BigInt(rows[0]?.number ?? 0);
}

/** Returns the number of the oldest transaction that has not ended. */
export async function oldestTransaction(db: Sql): Promise<bigint> {
  const { rows } = await sql<{ oldest: string }>`
    select pg_snapshot_xmin(pg_current_snapshot())::text as oldest`.execute(db);
  return BigInt(rows[0]?.oldest ?? 0);
}
