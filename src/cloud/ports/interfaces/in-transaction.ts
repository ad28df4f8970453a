import type { Transaction } from '../../../db/database.ts';
import { canonicalAddress } from '../../../lib/cidr.ts';
import { ConflictError, InvalidError } from '../../../lib/errors.ts';
import { refuseHeld } from '../../../lib/held.ts';
import { isUuid } from '../../../lib/ids.ts';
import { freeReserved } from '../reserved/in-transaction.ts';
import * as rows from './store.ts';

/* Ports that come to an instance and leave it. The instance is locked by the caller. */

export { type InterfaceRow, listInterfaces as list } from './store.ts';

/** The place of one more. @throws ConflictError when the instance has `most` already */
export async function nextPlace(tx: Transaction, instanceId: string, most: number): Promise<number> {
  const { count, next } = await rows.interfacePlaces(tx, instanceId);
  if (count < most) return next;
  throw new ConflictError(
    `Instance ${instanceId} has ${count} interfaces and can have ${most} at most; detach one first`,
  );
}

/** Holds the one with the address for its removal. @throws InvalidError, ConflictError while a task holds it */
export async function hold(
  tx: Transaction,
  instanceId: string,
  { port_id: portId, ip_address: text }: { port_id: string; ip_address: string },
  taskId: string,
): Promise<{ id: string; reserved: boolean }> {
  const address = canonicalAddress(text)?.address;
  if (address === undefined) throw new InvalidError({ ip_address: [`${text} is not an IP address.`] });
  const port = isUuid(portId) ? await rows.lockInterface(tx, instanceId, portId, address) : undefined;
  if (!port) {
    throw new InvalidError({ port_id: [`The instance has no port ${portId} with address ${text}.`] });
  }
  refuseHeld(`Port ${port.id}`, port);
  await rows.holdPort(tx, port.id, taskId);
  return port;
}

export async function free(tx: Transaction, portId: string): Promise<void> {
  await rows.holdPort(tx, portId, null);
}

/** Takes it off its instance. A reserved one is kept; true when it is gone: the caller releases its addresses. */
export async function remove(tx: Transaction, taskId: string, portId: string, now: Date): Promise<boolean> {
  const port = await rows.lockKind(tx, portId);
  if (port?.reserved) await freeReserved(tx, taskId, [portId], now);
  else if (port) await rows.deletePort(tx, portId);
  return port !== undefined && !port.reserved;
}
