import type { Sql, Transaction } from '../../db/database.ts';
import { foundById } from '../../lib/found.ts';
import { refuseNode } from '../instances/nodes/refuse-node.ts';
import type { Place } from '../projects/place.ts';
import { lockedInstancePorts, type NetworkPortRow, portsOfInstance } from './store.ts';

/**
 * Writes new ports of instances, each at its place among the interfaces, and removes those of instances. The addresses
 * of removed ones are the caller's affair.
 */
export { deletePortsOf as removeOf, insertPorts as addToMany } from './store.ts';

/** In the order of the instance's interfaces. @throws NotFoundError */
export async function ofInstance(db: Sql, place: Place, instanceId: string): Promise<NetworkPortRow[]> {
  return foundById('Instance', instanceId, () => portsOfInstance(db, place, instanceId));
}

/**
 * The ports of each instance of the place, by instance id; an instance that doesn't exist is left out.
 * @throws ConflictError for a node of a cluster
 */
export async function portsOf(
  tx: Transaction,
  place: Place,
  instanceIds: string[],
): Promise<Map<string, string[]>> {
  if (instanceIds.length === 0) return new Map();
  const rows = await lockedInstancePorts(tx, place, instanceIds);
  const node = rows.find(({ poolId }) => poolId !== null);
  if (node) await refuseNode(tx, { id: node.instanceId, pool_id: node.poolId });
  const found = new Map<string, string[]>();
  for (const { instanceId, portId } of rows) {
    const ports = found.get(instanceId) ?? [];
    if (portId !== null) ports.push(portId);
    found.set(instanceId, ports);
  }
  // By the ids as they were given, which may be in capitals.
  return new Map(
    instanceIds.flatMap((id) => {
      const ports = found.get(id.toLowerCase());
      return ports ? [[id, ports] as const] : [];
    }),
  );
}
