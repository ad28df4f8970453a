import { type RawBuilder, sql } from 'kysely';
import type { Sql } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import { WORKER_IS_DEAD } from './heartbeat.ts';
import type { Queue } from './worker.ts';

/** A table whose rows name the worker that has claimed them, in `worker_id`. */
interface ClaimedTable {
  table: keyof Tables;
  /** Its column with UUIDs that are the keys of the claims. */
  key: string;
  /** Its column that counts how often a row was claimed. */
  count: string;
}

/**
 * Returns the part of a queue that is the same for all of them. Claims that are locked right now are released the next
 * time: nobody waits for them, or for each other.
 */
export function claimsIn(
  db: Sql,
  workerId: string,
  { table, key, count }: ClaimedTable,
): Pick<Queue, 'table' | 'claimed' | 'giveBack' | 'takeFromDead'> {
  const [rows, id] = [sql.table(table), sql.ref(key)];

  async function release(which: RawBuilder<unknown>): Promise<number> {
    const { numAffectedRows = 0n } = await sql`
      with freed as materialized (select ${id} as id from ${rows} where ${which} order by 1 for no key update skip locked)
      update ${rows} set worker_id = null from freed where ${sql.ref(`${table}.${key}`)} = freed.id`.execute(db);
    return Number(numAffectedRows);
  }

  return {
    table,
    async claimed() {
      const claimed = await sql<{ id: string; state: number }>`
        select ${id} as id, ${sql.ref(count)} as state from ${rows} where worker_id = ${workerId}`.execute(db);
      return new Map(claimed.rows.map((one) => [one.id, one.state]));
    },
    giveBack: async (ids) => {
      await release(sql`worker_id = ${workerId} and ${id} = any(${[...ids]}::uuid[])`);
    },
    takeFromDead: () => release(sql`worker_id is not null and ${WORKER_IS_DEAD}`),
  };
}
