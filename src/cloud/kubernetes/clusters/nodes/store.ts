import type { Transaction } from '../../../../db/database.ts';

/** Returns the pool of a node; undefined for an instance that doesn't exist or isn't a node. */
export async function poolOfNode(tx: Transaction, instanceId: string): Promise<string | undefined> {
  const row = await tx.sql
    .selectFrom('instances')
    .select('pool_id')
    .where('id', '=', instanceId)
    .executeTakeFirst();
  return row?.pool_id ?? undefined;
}
