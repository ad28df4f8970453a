import { sql } from 'kysely';
import type { Sql, Transaction } from '../../../db/database.ts';
import { isIn, type Place } from '../../../db/place.ts';
import { foundById, isUuid } from '../../../lib/ids.ts';
import { refuseNode } from '../../ground/hosts/in-transaction.ts';

export { portsOfNetwork } from './port-rows.ts';

import { lockedInstancePorts, type NetworkPortRow, portsOfInstance } from './store.ts';

/**
 * Insert ports of new interfaces at their positions, and delete those of instances. The caller releases the addresses.
 */
export { deletePortsOf as removeOf, insertPorts as addToMany } from './store.ts';

/** Lists the ports in the order of the instance's interfaces. @throws NotFoundError */
export async function ofInstance(db: Sql, place: Place, instanceId: string): Promise<NetworkPortRow[]> {
  return foundById('Instance', instanceId, () => portsOfInstance(db, place, instanceId));
}

/**
 * Returns the ports of each instance by instance ID, without instances that don't exist in the place.
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
  // The keys are the given IDs, which may be in upper case.
  return new Map(
    instanceIds.flatMap((id) => {
      const ports = found.get(id.toLowerCase());
      return ports ? [[id, ports] as const] : [];
    }),
  );
}

/**
 * Locks the port for a floating IP until the transaction ends, and returns it. Call it before locking floating IPs.
 * @throws ConflictError for a port of a cluster's node
 */
export async function lockTarget(
  tx: Transaction,
  place: Place,
  portId: string,
): Promise<FloatingTarget | undefined> {
  if (!isUuid(portId)) return undefined;
  const port = await tx.sql
    .selectFrom('ports')
    .select(['id', 'network_id', 'task_id', 'instance_id'])
    .select((one) =>
      one.selectFrom('instances').select('pool_id').whereRef('id', '=', 'instance_id').as('pool_id'),
    )
    .where('id', '=', portId)
    .where(isIn(place))
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!port) return undefined;
  if (port.instance_id !== null) await refuseNode(tx, { id: port.instance_id, pool_id: port.pool_id });
  const { external, addresses } = await tx.sql
    .selectFrom('networks')
    .select([
      'external',
      sql<string[]>`array(select host(address) from ip_assignments
        where port_id = ${port.id} order by address)`.as('addresses'),
    ])
    .where('id', '=', port.network_id)
    .executeTakeFirstOrThrow();
  return { id: port.id, task_id: port.task_id, external, addresses };
}

/** A port to which a floating IP may be assigned, with its addresses. */
export interface FloatingTarget {
  id: string;
  task_id: string | null;
  /** Whether its network is an external one. */
  external: boolean;
  addresses: string[];
}
