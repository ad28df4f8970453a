import { sql } from 'kysely';
import type { MachineSpec } from '../../../backends/contract/specs.ts';
import { type TaskEnd, taskType } from '../../../convergence/task-kind.ts';
import { change, make, remove } from '../../../convergence/wants.ts';
import type { Place, Transaction } from '../../../db/database.ts';
import { ConflictError, InvalidError } from '../../../lib/errors.ts';
import { foundById, isUuid, newId, refuseHeld } from '../../../lib/ids.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { type QuotaOwner, quotaOwner, releaseQuota, takeQuota } from '../../ground/quotas/service.ts';
import { waitingDeletion } from '../../ground/tasks/behind/service.ts';
import { beginTask, deletionId, refuseDoomed, removeAgain, wantChecked } from '../../ground/tasks/service.ts';
import type { CreatePlacementGroup, GroupPolicy, PlacementGroupListQuery } from './schema.ts';
import * as store from './store.ts';
import { deleteGroup, insertGroups, keepGroup } from './store.ts';

interface GroupInput extends QuotaOwner {
  groupId: string;
}

export const DELETE_SERVERGROUP = taskType<GroupInput>('delete_servergroup');

/** How tasks on placement groups end. Their creation needs none. */
export function placementGroupTasks(): TaskEnd[] {
  const remove: TaskEnd<GroupInput> = {
    ...DELETE_SERVERGROUP,
    removes: true,
    async complete(tx, _task, { groupId, ...owner }) {
      await deleteGroup(tx, groupId);
      releaseQuota(tx, owner, 'servergroup_count');
    },
  };
  return [remove];
}

/** What instances and pools do with placement groups. Lock instances before them. */

/**
 * Puts an instance into a group, which can't be deleted then. The instance must be in none.
 * @throws InvalidError for an unknown group, ConflictError for one of a pool or one that is or will be deleted
 */
export async function join(tx: Transaction, place: Place, groupId: string, instanceId: string): Promise<void> {
  const group = isUuid(groupId) ? await keepGroup(tx, place, groupId) : undefined;
  if (!group) {
    throw new InvalidError({
      servergroup_id: [`No placement group ${groupId} in this project and region.`],
    });
  }
  refuseHeld(`Placement group ${group.id}`, group);
  if (group.pool_id !== null) {
    throw new ConflictError(
      `Placement group ${group.id} belongs to pool ${group.pool_id} of a cluster; only its nodes can be in it`,
    );
  }
  await refuseDoomed(tx, place, `Placement group ${group.id}`, { type: 'delete_servergroup', id: group.id });
  const member = { instance_id: instanceId, server_group_id: group.id };
  await tx.sql.insertInto('server_group_members').values(member).execute();
}

export async function leave(tx: Transaction, instanceId: string): Promise<void> {
  await tx.sql.deleteFrom('server_group_members').where('instance_id', '=', instanceId).execute();
}

export function withoutGroup({ serverGroupId: _, ...spec }: MachineSpec): MachineSpec {
  return spec;
}

export async function groupOf(tx: Transaction, instanceId: string): Promise<string | undefined> {
  const member = await tx.sql
    .selectFrom('server_group_members')
    .select('server_group_id')
    .where('instance_id', '=', instanceId)
    .executeTakeFirst();
  return member?.server_group_id;
}

export interface PoolWithPolicy {
  id: string;
  name: string;
  servergroup_policy: string | null;
}

/** How many groups such pools need. */
export const groupsFor = (pools: readonly { servergroup_policy?: string | null }[]): number =>
  pools.filter(({ servergroup_policy: policy }) => (policy ?? null) !== null).length;

/** Makes the groups of new pools. The caller takes their quota, one for each pool with a policy. */
export async function addForPools(
  tx: Transaction,
  place: Place,
  clusterName: string,
  pools: readonly PoolWithPolicy[],
): Promise<void> {
  const groups = pools.flatMap(({ id, name, servergroup_policy: policy }) =>
    policy === null
      ? []
      : [
          {
            id: newId(),
            project_id: place.projectId,
            region_id: place.regionId,
            name: `${clusterName}-${name}`,
            policy: policy as GroupPolicy,
            pool_id: id,
            task_id: null,
            created_at: tx.now,
          },
        ],
  );
  await insertGroups(tx.sql, groups);
}

/** Returns how many groups go with the pool, or with all pools of a cluster. Releases nothing. */
export async function countOf(tx: Transaction, of: { poolId: string } | { clusterId: string }): Promise<number> {
  const pools =
    'poolId' in of
      ? sql`select ${of.poolId}::uuid`
      : sql`select id from kubernetes_pools where cluster_id = ${of.clusterId}`;
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from server_groups where pool_id in (${pools})`.execute(tx.sql);
  return rows[0]?.count ?? 0;
}

/** Creates a group at once. @throws QuotaExceededError */
export const createPlacementGroup = (
  on: Platform,
  scope: Scope,
  { name, policy }: CreatePlacementGroup,
): Promise<store.GroupRow> =>
  on.database.accept(async (tx) => {
    const group = {
      id: newId(),
      project_id: scope.projectId,
      region_id: scope.regionId,
      name,
      policy,
      pool_id: null,
      task_id: null,
      created_at: tx.now,
    };
    tx.about({ type: 'servergroup', id: group.id, name });
    await store.insertGroups(tx.sql, [group]);
    await wantChecked(on, tx, scope, [make('server_group', group.id, { name, policy })]);
    takeQuota(tx, scope, 'servergroup_count');
    return { ...group, instances: [] };
  });

export const listPlacementGroups = (on: Platform, scope: Scope, query: PlacementGroupListQuery) =>
  store.listGroups(on.database.sql, scope, query);

/** @throws NotFoundError */
export const getPlacementGroup = (on: Platform, scope: Scope, id: string): Promise<store.GroupRow> =>
  foundById('Placement group', id, () => store.findGroup(on.database.sql, scope, id));

/** Returns the task that deletes it. Its instances go on without it. @throws NotFoundError, ConflictError while tasks hold them */
export const deletePlacementGroup = (on: Platform, scope: Scope, id: string): Promise<string> =>
  on.database.accept(async (tx) => {
    // Instances are locked before their group.
    const locked = isUuid(id) ? await store.lockMembers(tx, scope, id) : [];
    const group = await foundById('Placement group', id, () => store.lockGroup(tx, scope, id));
    tx.about({ type: 'servergroup', id: group.id, name: group.name });
    const again = await removeAgain(on, tx, scope, group.task_id, DELETE_SERVERGROUP);
    if (again !== undefined) return again;
    refuseHeld(`Placement group ${group.id}`, group);
    if (group.pool_id !== null) {
      throw new ConflictError(
        `Placement group ${group.id} belongs to pool ${group.pool_id} of a cluster, and is deleted with it`,
      );
    }
    const members = await store.membersOf(tx, group.id);
    for (const { id: instanceId } of members) {
      const one = locked.find((instance) => instance.id === instanceId);
      if (!one) throw new ConflictError(`Instance ${instanceId} has just joined the group; try again`);
      refuseHeld(`Instance ${instanceId} in placement group ${group.id}`, one);
    }
    await tx.sql.deleteFrom('server_group_members').where('server_group_id', '=', group.id).execute();
    const taskId = deletionId(scope);
    await store.hold(tx, group.id, taskId);
    return beginTask(on, tx, scope, {
      id: taskId,
      task: DELETE_SERVERGROUP,
      data: { servergroup_id: group.id },
      input: { groupId: group.id, ...quotaOwner(scope) },
      wants: [...members.map(({ id: one }) => change('machine', one, withoutGroup)), remove('server_group', group.id)],
    });
  });

export const placementGroupDeletion = waitingDeletion('delete_servergroup', deletePlacementGroup, ['servergroup_id']);
