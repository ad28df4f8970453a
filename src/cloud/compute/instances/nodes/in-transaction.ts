import { sql } from 'kysely';
import type { ClusterNodeSpec } from '../../../../backends/contract/specs.ts';
import { put, type Wanted, want } from '../../../../convergence/wants.ts';
import type { Place, Transaction } from '../../../../db/database.ts';
import type { KeptFlavor } from '../../../../db/json-columns.ts';
import { newId } from '../../../../lib/ids.ts';
import type { Scope } from '../../../../platform.ts';
import type { Flavor, VolumeTypeName } from '../../../ground/catalog/service.ts';
import type { QuotaAmounts, QuotaOwner } from '../../../ground/quotas/service.ts';
import type { AddressSource } from '../../../network/addresses/in-transaction.ts';
import * as addresses from '../../../network/addresses/in-transaction.ts';
import * as portGroups from '../../../network/ports/groups/in-transaction.ts';
import * as ports from '../../../network/ports/in-transaction.ts';
import { portSpecs } from '../../../network/ports/tasks.ts';
import * as volumes from '../../../storage/volumes/of-instances/in-transaction.ts';
import { keptFlavor } from '../creation/flavor-choice.ts';

const NAME_PART_LENGTH = 8;

/** New nodes for a pool. */
export interface WantedNodes {
  poolId: string;
  amount: number;
  /** The name of a node is this prefix, a hyphen and a part of its ID. */
  namePrefix: string;
  flavor: Flavor;
  sshKeyName: string;
  /** Null for bare metal, which has its own disks. */
  bootDisk: { sizeGib: number; volumeType: VolumeTypeName } | null;
  /** The address sources of each interface, in order. */
  interfaces: AddressSource[][];
  groupIds: string[];
}

/** Quotas that nodes had. The caller releases them at the end, together with everything else that is gone. */
export interface FreedQuotas {
  owner: QuotaOwner;
  amounts: QuotaAmounts;
}

/*
 * The nodes of clusters' pools, which are instances. A task of their cluster creates and removes them; the task
 * decides which. Every function runs the same few statements for any number of nodes.
 */

/**
 * Inserts nodes with ports, addresses and disks, held by the task. The caller takes the quotas.
 * @throws InvalidError for a missing network, ConflictError when no addresses are left
 */
export async function add(tx: Transaction, scope: Scope, wanted: readonly WantedNodes[], taskId: string) {
  const nodes = wanted.flatMap((pool) => Array.from({ length: pool.amount }, () => newNode(pool)));
  const [first] = nodes;
  if (!first) return;
  const interfaces = nodes.flatMap((node) =>
    node.pool.interfaces.map((sources, position) => ({ node, sources, position, portId: newId() })),
  );
  const wishes = interfaces.flatMap(({ portId, sources }) =>
    sources.map((from) => ({ holder: { port: portId }, field: 'nodes', from })),
  );
  const taken = await addresses.take(tx, scope, wishes);
  const flavors = new Map(wanted.map(({ poolId, flavor }) => [poolId, keptFlavor(flavor)]));
  const { sshKeyName } = first.pool;
  await insertNodes(tx, scope, nodes, flavors, { sshKeyName, taskId });
  const networks = new Map(taken.map((one) => ['port' in one.holder ? one.holder.port : '', one.networkId]));
  const placed = interfaces.flatMap(({ portId, node, position }) => {
    const networkId = networks.get(portId);
    return networkId === undefined
      ? []
      : [{ id: portId, networkId, interfaceName: null, instanceId: node.id, position }];
  });
  await ports.insertPorts(tx, scope, placed);
  await portGroups.putOnPorts(
    tx,
    interfaces.flatMap(({ portId, node }) => node.pool.groupIds.map((groupId) => ({ portId, groupId }))),
  );
  const disks = nodes.flatMap(({ id, name, pool: { bootDisk } }) =>
    bootDisk === null ? [] : [{ instanceId: id, name: `${name}-boot`, ...bootDisk }],
  );
  if (disks.length > 0) await volumes.attachBootDisks(tx, scope, disks, taskId);
}

/**
 * Lets the task remove nodes with their disks, except for disks with snapshots that aren't named.
 * @throws ConflictError while something works on a disk
 */
export async function doom(
  tx: Transaction,
  ids: readonly string[],
  taskId: string,
  namedVolumeIds: readonly string[] = [],
): Promise<void> {
  await lockNodes(tx, ids);
  await volumes.holdForRemoval(tx, ids, namedVolumeIds, taskId);
  await markDoomed(tx, ids, taskId);
}

/** Completes the task: new nodes run, and doomed ones are removed with everything they had. */
export async function finish(tx: Transaction, taskId: string): Promise<FreedQuotas | undefined> {
  const held = await lockHeldNodes(tx, taskId);
  await settle(
    tx,
    held.filter(({ task_state }) => task_state !== 'deleting'),
  );
  return remove(
    tx,
    held.filter(({ task_state }) => task_state === 'deleting'),
  );
}

/** Takes the task back: its new nodes are removed, and its doomed ones run. */
export async function takeBack(tx: Transaction, taskId: string): Promise<FreedQuotas | undefined> {
  const held = await lockHeldNodes(tx, taskId);
  await settle(
    tx,
    held.filter((node) => node.creator_task_id !== taskId),
  );
  return remove(
    tx,
    held.filter((node) => node.creator_task_id === taskId),
  );
}

async function settle(tx: Transaction, nodes: HeldNode[]): Promise<void> {
  if (nodes.length === 0) return;
  const ids = nodes.map(({ id }) => id);
  await volumes.settle(tx, ids);
  await markRunning(tx, ids);
}

/** Locks rows in the same order as a creation, so that the two never wait for each other. */
async function remove(tx: Transaction, nodes: HeldNode[]): Promise<FreedQuotas | undefined> {
  const [first] = nodes;
  if (!first) return undefined;
  const ids = nodes.map(({ id }) => id);
  const portIds = await ports.deletePortsOf(tx, ids);
  const doomed = await volumes.doomedWith(tx, ids);
  const left = await volumes.detach(tx, ids, doomed);
  await deleteNodes(tx, ids);
  await addresses.release(tx, portIds);
  // A task works on one cluster, which belongs to one account.
  const owner = { clientId: first.client_id, regionId: first.region_id };
  await want(tx, { ...owner, projectId: first.project_id }, left.map(asVolume));
  return { owner, amounts: { vm_count: ids.length, volume_count: doomed.length } };
}

/** Wants a disk as a volume. Until now, it was a part of its node. */
function asVolume({ id, name, size_gib, volume_type, tags }: volumes.VolumeLeft): Wanted {
  return put('volume', id, { name, sizeGib: size_gib, volumeType: volume_type, metadata: tags });
}

function newNode(pool: WantedNodes) {
  const id = newId();
  return { id, name: `${pool.namePrefix}-${id.slice(0, NAME_PART_LENGTH)}`, poolId: pool.poolId, pool };
}

export function quotasOf(pools: readonly { amount: number; bootDisk: unknown }[]): QuotaAmounts {
  const sum = (list: typeof pools) => list.reduce((total, { amount }) => total + amount, 0);
  return { vm_count: sum(pools), volume_count: sum(pools.filter(({ bootDisk }) => bootDisk !== null)) };
}

interface NodeParts {
  id: string;
  pool_id: string;
  name: string;
  port_ids: string[];
  boot_volume_id: string | null;
}

/** Returns the specs of pools' nodes by pool and ID, from their rows in the transaction. Leaves out doomed nodes. */
export async function nodeSpecs(
  tx: Transaction,
  poolIds: readonly string[],
): Promise<Map<string, Record<string, ClusterNodeSpec>>> {
  const { rows } = await sql<NodeParts>`
    select id, pool_id, name,
      array(select ports.id::text from ports where instance_id = instances.id order by position) as port_ids,
      (select volume_id from volume_attachments where instance_id = instances.id and boot_index = 0) as boot_volume_id
    from instances where pool_id = any(${poolIds}::uuid[]) and task_state is distinct from 'deleting'
    order by id`.execute(tx.sql);
  const ports = await portSpecs(
    tx,
    rows.flatMap(({ port_ids }) => port_ids),
  );
  const pools = new Map<string, Record<string, ClusterNodeSpec>>();
  for (const { id, pool_id, name, port_ids, boot_volume_id } of rows) {
    const own = port_ids.flatMap((portId, position) => {
      const port = ports.get(portId);
      return port ? [[portId, { ...port, position }] as const] : [];
    });
    const node = {
      name,
      ...(boot_volume_id !== null && { bootVolumeId: boot_volume_id }),
      ports: Object.fromEntries(own),
    };
    pools.set(pool_id, { ...pools.get(pool_id), [id]: node });
  }
  return pools;
}

export interface NewNode {
  id: string;
  name: string;
  poolId: string;
}

/** Inserts nodes in their first state, held by the task that creates them. `flavors` are keyed by pool. */
export async function insertNodes(
  tx: Transaction,
  place: Place,
  nodes: readonly NewNode[],
  flavors: ReadonlyMap<string, KeptFlavor>,
  { sshKeyName, taskId }: { sshKeyName: string; taskId: string },
): Promise<void> {
  const pools = [...flavors].map(([id, flavor]) => ({ id, flavor }));
  await sql`
    insert into instances (id, project_id, region_id, name, status, vm_state, task_state, flavor_id, flavor,
      ssh_key_name, tags, pool_id, creator_task_id, task_id, created_at, updated_at)
    select node.id, ${place.projectId}, ${place.regionId}, node.name, 'BUILD', 'building', 'scheduling',
      pool.flavor ->> 'flavor_id', pool.flavor, ${sshKeyName}, '{}', pool.id, ${taskId}, ${taskId}, ${tx.now}, ${tx.now}
    from unnest(${nodes.map(({ id }) => id)}::uuid[], ${nodes.map(({ name }) => name)}::text[],
      ${nodes.map(({ poolId }) => poolId)}::uuid[]) as node (id, name, pool_id)
    join jsonb_to_recordset(${JSON.stringify(pools)}::jsonb) as pool (id uuid, flavor jsonb)
      on pool.id = node.pool_id`.execute(tx.sql);
}

/** Returns the IDs of the pools' nodes, newest first. */
export async function nodeIdsOf(tx: Transaction, poolIds: readonly string[]): Promise<string[]> {
  const rows = await tx.sql
    .selectFrom('instances')
    .select('id')
    .where(sql<boolean>`pool_id = any(${poolIds}::uuid[])`)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map(({ id }) => id);
}

/** Locks the nodes against changes until the transaction ends. */
export async function lockNodes(tx: Transaction, ids: readonly string[]): Promise<void> {
  await sql`
    select from instances where id = any(${ids}::uuid[]) order by id for update`.execute(tx.sql);
}

export interface HeldNode {
  id: string;
  task_state: string | null;
  creator_task_id: string;
  client_id: number;
  project_id: number;
  region_id: number;
}

/** Locks the nodes that the task creates or removes, and returns them. */
export async function lockHeldNodes(tx: Transaction, taskId: string): Promise<HeldNode[]> {
  return tx.sql
    .selectFrom('instances')
    .innerJoin('projects', 'projects.id', 'instances.project_id')
    .select(['instances.id', 'task_state', 'creator_task_id', 'client_id', 'project_id', 'region_id'])
    .where('task_id', '=', taskId)
    .where('pool_id', 'is not', null)
    .orderBy('instances.id')
    .forUpdate('instances')
    .execute();
}

export async function markDoomed(tx: Transaction, ids: readonly string[], taskId: string): Promise<void> {
  await tx.sql
    .updateTable('instances')
    .set({ task_state: 'deleting', task_id: taskId, updated_at: tx.now })
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .execute();
}

/** Marks the nodes as running and no longer held by a task. */
export async function markRunning(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx.sql
    .updateTable('instances')
    .set({ status: 'ACTIVE', vm_state: 'active', task_state: null, task_id: null, updated_at: tx.now })
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .execute();
}

export async function deleteNodes(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx.sql.deleteFrom('instances').where(sql<boolean>`id = any(${ids}::uuid[])`).execute();
}
