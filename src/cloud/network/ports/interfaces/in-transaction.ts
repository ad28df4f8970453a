import type { Transaction } from '../../../../db/database.ts';
import { canonicalAddress } from '../../../../lib/cidr.ts';
import { ConflictError, InvalidError } from '../../../../lib/errors.ts';
import { refuseHeld } from '../../../../lib/held.ts';
import { isUuid } from '../../../../lib/ids.ts';
import { freeReserved } from '../reserved/in-transaction.ts';
import * as rows from './store.ts';

/* Ports as they are attached to an instance and detached. The caller locks the instance. */

export { type InterfaceRow, listInterfaces as list } from './store.ts';

/** Returns the position of the next interface. @throws ConflictError if the instance already has `most` of them */
export async function nextPlace(tx: Transaction, instanceId: string, most: number): Promise<number> {
  const { count, next } = await rows.interfacePlaces(tx, instanceId);
  if (count < most) return next;
  throw new ConflictError(
    `Instance ${instanceId} already has ${count} interfaces, and the maximum is ${most}; detach one first`,
  );
}

/** Holds the port with the address for its removal. @throws InvalidError, ConflictError while a task holds it */
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

/** Detaches the port. Keeps a reserved port, deletes any other and returns true: the caller releases its addresses. */
export async function remove(tx: Transaction, taskId: string, portId: string, now: Date): Promise<boolean> {
  const port = await rows.lockKind(tx, portId);
  if (port?.reserved) await freeReserved(tx, taskId, [portId], now);
  else if (port) await rows.deletePort(tx, portId);
  return port !== undefined && !port.reserved;
}
