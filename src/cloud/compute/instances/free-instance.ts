import type { Transaction } from '../../../db/database.ts';
import { ConflictError } from '../../../lib/errors.ts';
import { refuseHeld } from '../../../lib/held.ts';
import { foundById } from '../../../lib/ids.ts';
import { lockInstance, type PlainInstance, refuseNode } from '../../ground/hosts/in-transaction.ts';
import type { VmState } from '../../ground/hosts/states.ts';
import type { Scope } from '../../ground/projects/service.ts';

/**
 * Locks an instance for a change.
 * @throws NotFoundError, ConflictError for a cluster's node or while a task holds it
 */
export async function lockFreeInstance(tx: Transaction, scope: Scope, id: string): Promise<PlainInstance> {
  const instance = await lockKnownInstance(tx, scope, id);
  await refuseNode(tx, instance);
  refuseHeld(`Instance ${instance.id}`, instance);
  return instance;
}

/** Locks the instance even if a task holds it. @throws NotFoundError */
export async function lockKnownInstance(tx: Transaction, scope: Scope, id: string): Promise<PlainInstance> {
  const instance = await foundById('Instance', id, () => lockInstance(tx, scope, id));
  tx.about({ ...instance, type: 'instance' });
  return instance;
}

/** @throws ConflictError unless the instance is in one of the states, in which Nova allows it to `what` */
export function requireState(instance: PlainInstance, what: string, from: readonly VmState[]): void {
  if (from.includes(instance.vm_state)) return;
  throw new ConflictError(
    `Instance ${instance.id} is ${instance.vm_state} (status ${instance.status}); to ${what} it must be ${from.join(' or ')}`,
  );
}
