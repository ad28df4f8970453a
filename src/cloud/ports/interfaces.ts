import type { Database, Transaction } from '../../db/database.ts';
import { canonicalAddress } from '../../lib/cidr.ts';
import { ConflictError, InvalidError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Page, PageQuery } from '../../lib/page.ts';
import { refuseHeld } from '../tasks/held.ts';
import * as rows from './interface-rows.ts';
import { freeReserved } from './reserved.ts';

/** Ports that come to an instance and leave it. The instance is locked by the caller. */
export interface PortInterfaces {
  /** In the order of the instance's interfaces. */
  list(instanceId: string, page: PageQuery): Promise<Page<rows.InterfaceRow>>;
  /** The place of one more. @throws ConflictError when the instance has `most` already */
  nextPlace(tx: Transaction, instanceId: string, most: number): Promise<number>;
  /** Holds the one with the address for its removal. @throws InvalidError, ConflictError while a task holds it */
  hold(
    tx: Transaction,
    instanceId: string,
    port: { port_id: string; ip_address: string },
    taskId: string,
  ): Promise<{ id: string; reserved: boolean }>;
  free(tx: Transaction, portId: string): Promise<void>;
  /** Takes it off its instance. A reserved one is kept; true when it is gone, whose addresses are the caller's affair. */
  remove(tx: Transaction, taskId: string, portId: string, now: Date): Promise<boolean>;
}

export function createPortInterfaces({ database }: { database: Database }): PortInterfaces {
  return {
    list: (instanceId, page) => rows.listInterfaces(database.sql, instanceId, page),

    async nextPlace(tx, instanceId, most) {
      const { count, next } = await rows.interfacePlaces(tx, instanceId);
      if (count < most) return next;
      throw new ConflictError(
        `Instance ${instanceId} has ${count} interfaces and can have ${most} at most; detach one first`,
      );
    },

    async hold(tx, instanceId, { port_id: portId, ip_address: text }, taskId) {
      const address = canonicalAddress(text)?.address;
      if (address === undefined) throw new InvalidError({ ip_address: [`${text} is not an IP address.`] });
      const port = isUuid(portId) ? await rows.lockInterface(tx, instanceId, portId, address) : undefined;
      if (!port) {
        throw new InvalidError({ port_id: [`The instance has no port ${portId} with address ${text}.`] });
      }
      refuseHeld(`Port ${port.id}`, port);
      await rows.holdPort(tx, port.id, taskId);
      return port;
    },

    free: (tx, portId) => rows.holdPort(tx, portId, null),

    async remove(tx, taskId, portId, now) {
      const port = await rows.lockKind(tx, portId);
      if (port?.reserved) await freeReserved(tx, taskId, [portId], now);
      else if (port) await rows.deletePort(tx, portId);
      return port !== undefined && !port.reserved;
    },
  };
}
