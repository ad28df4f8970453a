import { sql } from 'kysely';
import type { Transaction } from '../../../../db/database.ts';
import type { KeptFlavor } from '../../../../db/json-columns.ts';
import type { Place } from '../../../../db/place.ts';

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
  { sshKeyName, taskId, now }: { sshKeyName: string; taskId: string; now: Date },
): Promise<void> {
  const pools = [...flavors].map(([id, flavor]) => ({ id, flavor }));
  await sql`
    insert into instances (id, project_id, region_id, name, status, vm_state, task_state, flavor_id, flavor,
      ssh_key_name, tags, pool_id, creator_task_id, task_id, created_at, updated_at)
    select node.id, ${place.projectId}, ${place.regionId}, node.name, 'BUILD', 'building', 'scheduling',
      pool.flavor ->> 'flavor_id', pool.flavor, ${sshKeyName}, '{}', pool.id, ${taskId}, ${taskId}, ${now}, ${now}
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
export async function markRunning(tx: Transaction, ids: readonly string[], now: Date): Promise<void> {
  await tx.sql
    .updateTable('instances')
    .set({ status: 'ACTIVE', vm_state: 'active', task_state: null, task_id: null, updated_at: now })
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .execute();
}

export async function deleteNodes(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx.sql.deleteFrom('instances').where(sql<boolean>`id = any(${ids}::uuid[])`).execute();
}
