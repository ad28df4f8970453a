import type { Transaction } from '../../../db/database.ts';

/** The pool of a node; undefined for an instance that is none, or that isn't there. */
export async function poolOfNode(tx: Transaction, instanceId: string): Promise<string | undefined> {
  const row = await tx.sql
    .selectFrom('instances')
    .select('pool_id')
    .where('id', '=', instanceId)
    .executeTakeFirst();
  return row?.pool_id ?? undefined;
}
