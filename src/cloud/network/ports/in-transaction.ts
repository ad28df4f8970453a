import { sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { belongsTo, type Place, type Sql, type Transaction } from '../../../db/database.ts';
import { compiledQuery } from '../../../db/statements.ts';
import { foundById, isUuid } from '../../../lib/ids.ts';
import { refuseNode } from '../../ground/hosts/in-transaction.ts';

export { portsOfNetwork } from './port-rows.ts';

export interface NetworkPortRow {
  id: string;
  name: string;
  security_groups: { id: string; name: string }[];
}

/** Returns the ports of an instance in the order of its interfaces; undefined if there is no such instance. */
export async function portsOfInstance(db: Sql, place: Place, id: string): Promise<NetworkPortRow[] | undefined> {
  return (await portsByInstance(db, { ...place, id }))[0]?.ports;
}

const portsByInstance = compiledQuery((db, args: Place & { id: string }) =>
  db
    .selectFrom('instances')
    .select((instance) =>
      jsonArrayFrom(
        instance
          .selectFrom('ports')
          .select(['ports.id', 'ports.name'])
          .select((port) =>
            jsonArrayFrom(
              port
                .selectFrom('port_security_groups as link')
                .innerJoin('security_groups as group', 'group.id', 'link.security_group_id')
                .select(['group.id', 'group.name'])
                .whereRef('link.port_id', '=', 'ports.id')
                .orderBy('group.name')
                .orderBy('group.id'),
            ).as('security_groups'),
          )
          .whereRef('ports.instance_id', '=', 'instances.id')
          .orderBy('ports.position'),
      ).as('ports'),
    )
    .where('id', '=', args.id)
    .where(belongsTo(args))
    .compile(),
);

/** Returns instances and their ports, and locks the instances against removal until the transaction ends. */
export async function lockedInstancePorts(tx: Transaction, place: Place, instanceIds: string[]) {
  return tx.sql
    .selectFrom('instances')
    .leftJoin('ports', 'ports.instance_id', 'instances.id')
    .select(['instances.id as instanceId', 'instances.pool_id as poolId', 'ports.id as portId'])
    .where('instances.id', 'in', instanceIds)
    .where(belongsTo(place, 'instances'))
    .orderBy('instances.id')
    .forShare('instances')
    .execute();
}

export interface NewPort {
  id: string;
  networkId: string;
  interfaceName: string | null;
}
export interface PlacedPort extends NewPort {
  instanceId: string;
  /** The position among the instance's interfaces. */
  position: number;
  /** The task that holds the port itself, apart from the one that holds the instance. */
  taskId?: string | null;
}

export async function insertPorts(tx: Transaction, place: Place, ports: readonly PlacedPort[]): Promise<void> {
  await tx.sql
    .insertInto('ports')
    .values(
      ports.map((port) => ({
        id: port.id,
        network_id: port.networkId,
        project_id: place.projectId,
        region_id: place.regionId,
        instance_id: port.instanceId,
        // Doesn't contain the instance's name, which may change.
        name: `port-${port.id}`,
        interface_name: port.interfaceName,
        position: port.position,
        port_security_enabled: true,
        task_id: port.taskId ?? null,
        tags: JSON.stringify({}),
        created_at: tx.now,
        updated_at: tx.now,
      })),
    )
    .execute();
}

/** Deletes the ports with their assigned groups. */
export async function deletePortsOf(tx: Transaction, instanceIds: readonly string[]): Promise<string[]> {
  const rows = await tx.sql
    .deleteFrom('ports')
    .where(sql<boolean>`instance_id = any(${instanceIds}::uuid[])`)
    .returning('id')
    .execute();
  return rows.map((row) => row.id);
}

/**
 * Insert ports of new interfaces at their positions, and delete those of instances. The caller releases the addresses.
 */

/** Lists the ports in the order of the instance's interfaces. @throws NotFoundError */
export async function ofInstance(db: Sql, place: Place, instanceId: string): Promise<NetworkPortRow[]> {
  return foundById('Instance', instanceId, () => portsOfInstance(db, place, instanceId));
}

/**
 * Returns the ports of each instance by instance ID, without instances that don't exist in the place.
 * @throws ConflictError for a node of a cluster
 */
export async function portsOf(tx: Transaction, place: Place, instanceIds: string[]): Promise<Map<string, string[]>> {
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
export async function lockTarget(tx: Transaction, place: Place, portId: string): Promise<FloatingTarget | undefined> {
  if (!isUuid(portId)) return undefined;
  const port = await tx.sql
    .selectFrom('ports')
    .select(['id', 'network_id', 'task_id', 'instance_id'])
    .select((one) => one.selectFrom('instances').select('pool_id').whereRef('id', '=', 'instance_id').as('pool_id'))
    .where('id', '=', portId)
    .where(belongsTo(place))
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
  external: boolean;
  addresses: string[];
}
