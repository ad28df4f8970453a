import type { Transaction } from '../../../db/database.ts';
import { InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { isUuid, refuseHeld } from '../../../lib/ids.ts';
import type { Scope } from '../../../platform.ts';
import { type LoadBalancerRow, lockBalancer } from './store.ts';
import { findPart } from './tree/parts.ts';
import type { PartRow } from './tree/store.ts';

/** Locks the load balancer. @throws NotFoundError */
export async function lockAlsoHeld(tx: Transaction, scope: Scope, id: string): Promise<LoadBalancerRow> {
  const balancer = isUuid(id) ? await lockBalancer(tx, scope, id) : undefined;
  if (!balancer) throw new NotFoundError('Load balancer', id);
  tx.about({ ...balancer, type: 'loadbalancer' });
  return balancer;
}

/** Locks the load balancer for a change of it or of its parts. @throws NotFoundError, ConflictError */
export async function lockFreeBalancer(tx: Transaction, scope: Scope, id: string): Promise<LoadBalancerRow> {
  const balancer = await lockAlsoHeld(tx, scope, id);
  refuseHeld(`Load balancer ${balancer.name}`, balancer);
  return balancer;
}

/** For a load balancer that a body names. @throws InvalidError if there is no such one */
export const namedBalancer = (scope: Scope, id: string) => async (tx: Transaction) => {
  if (await lockBalancer(tx, scope, id)) return id.toLowerCase();
  throw new InvalidError({ load_balancer_id: [`No load balancer ${id} in this project and region.`] });
};

/** Returns the pool that a change is about; its load balancer is locked already. @throws NotFoundError */
export async function lockedPool(tx: Transaction, scope: Scope, id: string): Promise<PartRow<'lb_pools'>> {
  const pool = await findPart(tx.sql, scope, 'lb_pools', id);
  tx.about({ ...pool, type: 'lbpool' });
  return pool;
}
