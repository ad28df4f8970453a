import type { Transaction } from '../../db/database.ts';
import { foundById } from '../../lib/found.ts';
import { refuseHeld } from '../../lib/held.ts';
import type { Scope } from '../projects/service.ts';
import { refuseNode } from './in-transaction.ts';
import { lockInstance, type PlainInstance } from './store.ts';

/**
 * Locks an instance for a change.
 * @throws NotFoundError, ConflictError for a cluster's node or while a task holds it
 */
export async function lockFreeInstance(tx: Transaction, scope: Scope, id: string): Promise<PlainInstance> {
  const instance = await foundById('Instance', id, () => lockInstance(tx, scope, id));
  scope.principal.writes?.about({ ...instance, type: 'instance' });
  await refuseNode(tx, instance);
  refuseHeld(`Instance ${instance.id}`, instance);
  return instance;
}
