import { randomUUID } from 'node:crypto';
import { change, make, remove } from '../../../convergence/wants.ts';
import type { Database } from '../../../db/database.ts';
import type { Clock } from '../../../lib/clock.ts';
import { ConflictError } from '../../../lib/errors.ts';
import { foundById } from '../../../lib/found.ts';
import { refuseHeld } from '../../../lib/held.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Page } from '../../../lib/page.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { quotaOwner, takeQuota } from '../../ground/quotas/in-transaction.ts';
import { deletionId, type Tasks } from '../../ground/tasks/service.ts';
import { withoutGroup } from './in-transaction.ts';
import type { CreatePlacementGroup, PlacementGroupListQuery } from './schema.ts';
import * as store from './store.ts';
import { DELETE_SERVERGROUP } from './tasks.ts';

/** Groups of instances that run on the same host, or on different ones. */
export interface PlacementGroups {
  /** Creates a group at once. @throws QuotaExceededError */
  create(scope: Scope, request: CreatePlacementGroup): Promise<store.GroupRow>;
  list(scope: Scope, query: PlacementGroupListQuery): Promise<Page<store.GroupRow>>;
  /** @throws NotFoundError */
  get(scope: Scope, id: string): Promise<store.GroupRow>;
  /** Returns the task that deletes it. Its instances go on without it. @throws NotFoundError, ConflictError while tasks hold them */
  delete(scope: Scope, id: string): Promise<string>;
}

export function createPlacementGroups(deps: {
  database: Database;
  clock: Clock;
  tasks: Tasks;
}): PlacementGroups {
  const { database, clock, tasks } = deps;

  return {
    create: (scope, { name, policy }) =>
      database.accept(scope.principal, async (tx) => {
        const group = {
          id: randomUUID(),
          project_id: scope.projectId,
          region_id: scope.regionId,
          name,
          policy,
          pool_id: null,
          task_id: null,
          created_at: clock.now(),
        };
        scope.principal.writes?.about({ type: 'servergroup', id: group.id, name });
        await store.insertGroups(tx.sql, [group]);
        await tasks.want(tx, scope, [make('server_group', group.id, { name, policy })]);
        await takeQuota(tx, scope, 'servergroup_count');
        return { ...group, instances: [] };
      }),

    list: (scope, query) => store.listGroups(database.sql, scope, query),
    get: (scope, id) => foundById('Placement group', id, () => store.findGroup(database.sql, scope, id)),

    delete: (scope, id) =>
      database.accept(scope.principal, async (tx) => {
        // Instances are locked before their group.
        const locked = isUuid(id) ? await store.lockMembers(tx, scope, id) : [];
        const group = await foundById('Placement group', id, () => store.lockGroup(tx, scope, id));
        scope.principal.writes?.about({ type: 'servergroup', id: group.id, name: group.name });
        const again = await tasks.removeAgain(tx, scope, group.task_id, DELETE_SERVERGROUP);
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
        return tasks.begin(tx, scope, {
          id: taskId,
          task: DELETE_SERVERGROUP,
          data: { servergroup_id: group.id },
          input: { groupId: group.id, ...quotaOwner(scope) },
          wants: [
            ...members.map(({ id: one }) => change('machine', one, withoutGroup)),
            remove('server_group', group.id),
          ],
        });
      }),
  };
}
