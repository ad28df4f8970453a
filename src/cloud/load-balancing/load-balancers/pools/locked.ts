import type { Transaction } from '../../../../db/database.ts';
import type { Scope } from '../../../ground/projects/service.ts';
import { findPart } from '../tree/parts.ts';
import type { PartRow } from '../tree/store.ts';

/** Returns the pool that a change is about; its load balancer is locked already. @throws NotFoundError */
export async function lockedPool(tx: Transaction, scope: Scope, id: string): Promise<PartRow<'lb_pools'>> {
  const pool = await findPart(tx.sql, scope, 'lb_pools', id);
  tx.about({ ...pool, type: 'lbpool' });
  return pool;
}
