import { randomUUID } from 'node:crypto';
import { change, make, remove } from '../../../convergence/wants.ts';
import { ConflictError } from '../../../lib/errors.ts';
import { foundById } from '../../../lib/found.ts';
import { refuseHeld } from '../../../lib/held.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Page } from '../../../lib/page.ts';
import type { Platform } from '../../../platform.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { quotaOwner, takeQuota } from '../../ground/quotas/in-transaction.ts';
import type { Rest, WaitingDeletion } from '../../ground/tasks/behind/service.ts';
import { beginTask, deletionId, removeAgain, wantChecked } from '../../ground/tasks/service.ts';
import { withoutGroup } from './in-transaction.ts';
import type { CreatePlacementGroup, PlacementGroupListQuery } from './schema.ts';
import * as store from './store.ts';
import { DELETE_SERVERGROUP } from './tasks.ts';

/** Creates a group at once. @throws QuotaExceededError */
export const createPlacementGroup = (
  on: Platform,
  scope: Scope,
  { name, policy }: CreatePlacementGroup,
): Promise<store.GroupRow> =>
  on.database.accept(async (tx) => {
    const group = {
      id: randomUUID(),
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
    await takeQuota(tx, scope, 'servergroup_count');
    return { ...group, instances: [] };
  });

export const listPlacementGroups = (
  on: Platform,
  scope: Scope,
  query: PlacementGroupListQuery,
): Promise<Page<store.GroupRow>> => store.listGroups(on.database.sql, scope, query);

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
    await store.removeMembers(tx, group.id);
    const taskId = deletionId(scope);
    await store.hold(tx, group.id, taskId);
    return beginTask(on, tx, scope, {
      id: taskId,
      task: DELETE_SERVERGROUP,
      data: { servergroup_id: group.id },
      input: { groupId: group.id, ...quotaOwner(scope) },
      wants: [
        ...members.map(({ id: one }) => change('machine', one, withoutGroup)),
        remove('server_group', group.id),
      ],
    });
  });

/** A deletion that may wait for what still uses the thing. */
export const placementGroupDeletion: WaitingDeletion<Rest<typeof deletePlacementGroup>> = {
  type: 'delete_servergroup',
  remove: deletePlacementGroup,
  names: ['servergroup_id'],
  options: [],
};
