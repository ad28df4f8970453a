import { type RawBuilder, sql, type Updateable } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { Json } from '../../../backends/contract/backend.ts';
import {
  belongsTo,
  isIn,
  newResource,
  type Place,
  type Sql,
  type Transaction,
  tagConditions,
} from '../../../db/database.ts';
import type { KeptFlavor } from '../../../db/json-columns.ts';
import { pageWithCount } from '../../../db/page.ts';
import type { Tables } from '../../../db/tables.ts';
import { orderOf, type Page } from '../../../lib/page.ts';
import type { PlainInstance } from '../../ground/hosts/in-transaction.ts';
import type { InstanceStatus, VmState } from '../../ground/hosts/states.ts';
import type { InstanceListQuery } from './schema.ts';

export interface AddressRow {
  network_name: string;
  external: boolean;
  interface_name: string | null;
  subnet_id: string;
  subnet_name: string;
  address: string;
  /** The floating IP that is assigned to the address. */
  floating_address: string | null;
}
export type InstanceRow = PlainInstance & {
  addresses: AddressRow[];
  security_groups: string[];
  volumes: { id: string; delete_on_termination: boolean }[];
};

/** A list query, and further restrictions. */
export interface InstanceFilter extends InstanceListQuery {
  changedSince?: Date | undefined;
  changedBefore?: Date | undefined;
  tagValues?: string[];
  /** Only instances with this security group on a port. */
  groupId?: string;
  /** Only nodes of these pools. */
  poolIds?: readonly string[];
  /** Matches no instance: the query asks for something that no instance has. */
  none?: boolean;
}
const ORDERS = { created: 'created_at', name: 'name', status: 'status' } as const;

/** Selects instances with everything that an answer shows, in one query. */
function instances(db: Sql, where: RawBuilder<boolean>) {
  return db
    .selectFrom('instances')
    .selectAll()
    .select((instance) => [
      jsonArrayFrom(
        instance
          .selectFrom('ports')
          .innerJoin('ip_assignments', 'ip_assignments.port_id', 'ports.id')
          .innerJoin('subnets', 'subnets.id', 'ip_assignments.subnet_id')
          .innerJoin('networks', 'networks.id', 'ports.network_id')
          .select(['networks.name as network_name', 'external', 'interface_name'])
          .select(['subnets.id as subnet_id', 'subnets.name as subnet_name'])
          .leftJoin('floating_ips as floating', (join) =>
            join
              .onRef('floating.port_id', '=', 'ip_assignments.port_id')
              .onRef('floating.fixed_address', '=', 'ip_assignments.address'),
          )
          .select(sql<string>`host(ip_assignments.address)`.as('address'))
          .select(sql<string | null>`host(floating.address)`.as('floating_address'))
          .whereRef('ports.instance_id', '=', 'instances.id')
          .orderBy('ports.position'),
      ).as('addresses'),
      sql<string[]>`array(
        select distinct security_groups.name from ports
        join port_security_groups as link on link.port_id = ports.id
        join security_groups on security_groups.id = link.security_group_id
        where ports.instance_id = instances.id order by security_groups.name)`.as('security_groups'),
      jsonArrayFrom(
        instance
          .selectFrom('volume_attachments as attachment')
          .select(['attachment.volume_id as id', 'delete_on_termination'])
          .whereRef('attachment.instance_id', '=', 'instances.id')
          .orderBy('device'),
      ).as('volumes'),
    ])
    .where(where);
}

export async function findInstance(db: Sql, place: Place, id: string): Promise<InstanceRow | undefined> {
  return instances(db, belongsTo(place)).where('id', '=', id).executeTakeFirst();
}

/** What belongs to the infrastructure of an instance: a machine, or the cluster whose node it is. */
interface Infrastructure {
  kind: 'cluster' | 'machine';
  ownerId: string;
  /** What the backend calls it. */
  handle: Json;
  devices: string[];
}

export async function findInfrastructure(db: Sql, instanceId: string): Promise<Infrastructure> {
  const { rows } = await sql<Infrastructure>`
    select owner.kind, owner.id as "ownerId", wants.handle,
      array(select device from volume_attachments where instance_id = ${instanceId} order by device) as devices
    from (
      select case when cluster_id is null then 'machine' else 'cluster' end as kind,
        coalesce(cluster_id, instances.id) as id
      from instances left join kubernetes_pools on kubernetes_pools.id = pool_id where instances.id = ${instanceId}
    ) as owner
    left join wants on wants.kind = owner.kind and wants.id = owner.id`.execute(db);
  const [row] = rows;
  return row ?? { kind: 'machine', ownerId: instanceId, handle: null, devices: [] };
}

export async function instancesOnPorts(
  db: Sql,
  place: Place,
  portIds: string[],
): Promise<(InstanceRow & { port_ids: string[] })[]> {
  const named = sql`ports.id = any(${portIds}::uuid[])`;
  return instances(db, belongsTo(place))
    .select(sql<string[]>`array(select id from ports where instance_id = instances.id and ${named})`.as('port_ids'))
    .where(sql<boolean>`instances.id in (select instance_id from ports where ${named})`)
    .execute();
}

export async function listInstances(db: Sql, place: Place, filter: InstanceFilter): Promise<Page<InstanceRow>> {
  const [column, direction] = orderOf(filter.order_by ?? 'created.desc');
  const ordered = instances(db, isIn(place))
    .where((eb) => eb.and(conditions(filter)))
    .orderBy(ORDERS[column], direction)
    .orderBy('id', direction);
  return pageWithCount(ordered, filter);
}

function conditions(filter: InstanceFilter) {
  const list = tagConditions('instances.tags', filter);
  const add = (condition: ReturnType<typeof sql<boolean>>) => void list.push(condition);
  if (filter.tagValues?.length) {
    add(sql`array(select value from jsonb_each_text(instances.tags)) @> ${filter.tagValues}::text[]`);
  }
  if (filter.name !== undefined) add(sql`position(lower(${filter.name}) in lower(name)) > 0`);
  if (filter.uuid !== undefined) add(sql`position(lower(${filter.uuid}) in id::text) > 0`);
  if (filter.flavor_id !== undefined) add(sql`flavor_id = ${filter.flavor_id}`);
  if (filter.flavor_prefix !== undefined) add(sql`starts_with(flavor_id, ${filter.flavor_prefix})`);
  if (filter.exclude_flavor_prefix !== undefined) {
    add(sql`not starts_with(flavor_id, ${filter.exclude_flavor_prefix})`);
  }
  if (!filter.include_baremetal) add(sql`not starts_with(flavor_id, 'bm')`);
  if (filter.status !== undefined) add(sql`status = ${filter.status}`);
  if (filter.changedSince) add(sql`updated_at >= ${filter.changedSince}`);
  if (filter.changedBefore) add(sql`updated_at <= ${filter.changedBefore}`);
  if (filter.exclude_secgroup !== undefined) {
    add(sql`not exists (
      select from ports join port_security_groups as link on link.port_id = ports.id
      join security_groups on security_groups.id = link.security_group_id
      where ports.instance_id = instances.id and security_groups.name = ${filter.exclude_secgroup})`);
  }
  if (filter.groupId !== undefined) {
    add(sql`exists (
      select from ports join port_security_groups as link on link.port_id = ports.id
      where ports.instance_id = instances.id and link.security_group_id = ${filter.groupId})`);
  }
  if (filter.ip !== undefined) {
    add(sql`exists (
      select from ports join ip_assignments as own on own.port_id = ports.id
      left join floating_ips as floating on floating.port_id = ports.id and floating.fixed_address = own.address
      where ports.instance_id = instances.id
        and (position(${filter.ip} in host(own.address)) > 0
          or position(${filter.ip} in host(floating.address)) > 0))`);
  }
  if (filter.available_floating) {
    add(sql`exists (
      select from ports join networks on networks.id = ports.network_id
      join ip_assignments as own on own.port_id = ports.id
      where ports.instance_id = instances.id and not networks.external and family(own.address) = 4
        and not exists (
          select from floating_ips as floating
          where floating.port_id = ports.id and floating.fixed_address = own.address))`);
  }
  if (filter.none) add(sql`false`);
  if (filter.poolIds !== undefined) add(sql`pool_id = any(${filter.poolIds}::uuid[])`);
  if (filter.include_k8s === false) add(sql`pool_id is null`);
  if (filter.only_with_fixed_external_ip) {
    add(sql`exists (
      select from ports join networks on networks.id = ports.network_id
      where ports.instance_id = instances.id and networks.external)`);
  }
  return list;
}

export interface NewInstance {
  id: string;
  name: string;
  flavor: KeptFlavor;
  sshKeyName: string | null;
  tags: Record<string, string>;
}

/** Inserts an instance in its first state, held by the task that creates it. */
export async function insertInstance(tx: Transaction, place: Place, instance: NewInstance, taskId: string) {
  await tx.sql
    .insertInto('instances')
    .values({
      id: instance.id,
      name: instance.name,
      status: 'BUILD',
      vm_state: 'building',
      task_state: 'scheduling',
      description: null,
      flavor_id: instance.flavor.flavor_id,
      flavor: JSON.stringify(instance.flavor),
      ssh_key_name: instance.sshKeyName,
      tags: JSON.stringify(instance.tags),
      ...newResource(place, taskId, tx.now),
    })
    .execute();
}

export async function changeInstance(
  tx: Transaction,
  id: string,
  change: Pick<
    Updateable<Tables['instances']>,
    | 'name'
    | 'status'
    | 'vm_state'
    | 'task_state'
    | 'task_id'
    | 'tags'
    | 'flavor_id'
    | 'flavor'
    | 'stopped_by_suspension'
  >,
): Promise<void> {
  await tx.sql
    .updateTable('instances')
    .set({ ...change, updated_at: tx.now })
    .where('id', '=', id)
    .execute();
}

/** Locks the instance, so that nobody can put a security group on its ports any more. */
export async function lockForRemoval(tx: Transaction, id: string): Promise<void> {
  await tx.sql.selectFrom('instances').select('id').where('id', '=', id).forUpdate().execute();
}

export async function deleteInstance(tx: Transaction, id: string): Promise<void> {
  await tx.sql.deleteFrom('instances').where('id', '=', id).execute();
}

export interface TurnedInstance {
  id: string;
  name: string;
  client_id: number;
  project_id: number;
  region_id: number;
}

/**
 * Changes an instance, wherever it is, that is in one of the states and that no task holds, if `isCurrent` says so once it is
 * locked; undefined for another one. Those stay unlocked: the end of a task comes here with much in its hands.
 */
export async function turnInstance(
  tx: Transaction,
  id: string,
  { from, to }: { from: readonly VmState[]; to: { status: InstanceStatus; vm_state: VmState } },
  { isCurrent, wait }: { isCurrent(): Promise<boolean>; wait: boolean },
): Promise<TurnedInstance | undefined> {
  const found = await tx.sql
    .selectFrom('instances')
    .innerJoin('projects', 'projects.id', 'instances.project_id')
    .select(['instances.id', 'instances.name', 'client_id', 'project_id', 'region_id'])
    .where('instances.id', '=', id)
    .where('instances.task_id', 'is', null)
    .where('vm_state', 'in', from)
    .forUpdate('instances')
    .$if(!wait, (one) => one.skipLocked())
    .executeTakeFirst();
  if (!found || !(await isCurrent())) return undefined;
  await changeInstance(tx, id, to);
  return found;
}
