import { isIPv6 } from 'node:net';
import type { Place, Transaction } from '../../../../db/database.ts';

/** Writes a port with the virtual address of a load balancer. It goes with the load balancer. */
export async function insertVip(
  tx: Transaction,
  place: Place,
  port: { id: string; networkId: string; loadBalancerId: string },
): Promise<void> {
  await tx.sql
    .insertInto('ports')
    .values({
      id: port.id,
      network_id: port.networkId,
      project_id: place.projectId,
      region_id: place.regionId,
      instance_id: null,
      load_balancer_id: port.loadBalancerId,
      name: `port-${port.id}`,
      interface_name: null,
      position: 0,
      port_security_enabled: true,
      tags: JSON.stringify({}),
      created_at: tx.now,
      updated_at: tx.now,
    })
    .execute();
}

/** Gives a locked reserved port to a load balancer. */
export async function attachVip(tx: Transaction, portId: string, loadBalancerId: string): Promise<void> {
  await tx.sql
    .updateTable('ports')
    .set({ load_balancer_id: loadBalancerId, updated_at: tx.now })
    .where('id', '=', portId)
    .execute();
}

/** Locks the port of a load balancer, and returns it. */
export async function lockVip(tx: Transaction, loadBalancerId: string) {
  return tx.sql
    .selectFrom('ports')
    .select(['id', 'reserved', 'task_id'])
    .where('load_balancer_id', '=', loadBalancerId)
    .forUpdate()
    .executeTakeFirst();
}

/** Takes the port from its load balancer. A reserved one stays; of another, returns the ID: it is deleted. */
export async function letVipGo(tx: Transaction, { id, reserved }: { id: string; reserved: boolean }) {
  if (!reserved) {
    await tx.sql.deleteFrom('ports').where('id', '=', id).execute();
    return id;
  }
  await tx.sql.updateTable('ports').set({ load_balancer_id: null, updated_at: tx.now }).where('id', '=', id).execute();
  return undefined;
}

/** Returns the address to which a floating IP leads: the first IPv4 address, or any if there is none. */
export const floatingAddress = (addresses: readonly { address: string }[]): string =>
  (addresses.find(({ address }) => !isIPv6(address)) ?? addresses[0])?.address ?? '';
