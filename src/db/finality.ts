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

/**
 * Returns whether all transactions of this database with a smaller number have ended. What they have written can be seen by
 * later statements, not yet by this one. Those of other databases don't matter, though a snapshot waits for them, too.
 */
export async function haveEndedBefore(db: Sql, number: bigint): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity
    where datname = current_database() and age(backend_xid) > age(${String(number)}::xid8::xid) limit 1`.execute(db);
  return rows.length === 0;
}
