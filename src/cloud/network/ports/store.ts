import { sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { compiledQuery } from '../../../db/compiled.ts';
import type { Sql, Transaction } from '../../../db/database.ts';
import { isIn, type Place } from '../../../db/place.ts';

/** A port as described in the specification. */
export interface NetworkPortRow {
  id: string;
  name: string;
  security_groups: { id: string; name: string }[];
}

/** Returns the ports of an instance in the order of its interfaces; undefined if there is no such instance. */
export async function portsOfInstance(
  db: Sql,
  place: Place,
  id: string,
): Promise<NetworkPortRow[] | undefined> {
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
    .where(isIn(args))
    .compile(),
);

/** Returns instances and their ports, and locks the instances against removal until the transaction ends. */
export async function lockedInstancePorts(
  tx: Transaction,
  place: Place,
  instanceIds: string[],
): Promise<{ instanceId: string; poolId: string | null; portId: string | null }[]> {
  return tx.sql
    .selectFrom('instances')
    .leftJoin('ports', 'ports.instance_id', 'instances.id')
    .select(['instances.id as instanceId', 'instances.pool_id as poolId', 'ports.id as portId'])
    .where('instances.id', 'in', instanceIds)
    .where(isIn(place, 'instances'))
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

export async function insertPorts(
  tx: Transaction,
  place: Place,
  ports: readonly PlacedPort[],
  now: Date,
): Promise<void> {
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
        created_at: now,
        updated_at: now,
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
