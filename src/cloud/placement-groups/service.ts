import { randomUUID } from 'node:crypto';
import { make, remove } from '../../convergence/wants.ts';
import type { Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { ConflictError } from '../../lib/errors.ts';
import { foundById } from '../../lib/found.ts';
import { inUse, refuseHeld } from '../../lib/held.ts';
import type { Page } from '../../lib/page.ts';
import type { Scope } from '../projects/service.ts';
import { quotaOwner, takeQuota } from '../quotas/in-transaction.ts';
import { removersOf } from '../tasks/in-transaction.ts';
import { deletionId, type Tasks } from '../tasks/service.ts';
import type { CreatePlacementGroup, PlacementGroupListQuery } from './schema.ts';
import * as store from './store.ts';
import { DELETE_SERVERGROUP } from './tasks.ts';

const SHOWN_IN_MESSAGE = 10;
const LOOKED_AT = 500;

/** Groups of instances that run on the same host, or on different ones. */
export interface PlacementGroups {
  /** Creates a group at once. @throws QuotaExceededError */
  create(scope: Scope, request: CreatePlacementGroup): Promise<store.GroupRow>;
  list(scope: Scope, query: PlacementGroupListQuery): Promise<Page<store.GroupRow>>;
  /** @throws NotFoundError */
  get(scope: Scope, id: string): Promise<store.GroupRow>;
  /** Returns the task that deletes it. @throws NotFoundError, ConflictError while instances are in it */
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
        const members = await store.membersOf(tx, group.id, LOOKED_AT);
        if (members.length > 0) {
          const named = members
            .slice(0, SHOWN_IN_MESSAGE)
            .map((one) => `${one.name} (${one.id})`)
            .join(', ');
          throw inUse(
            `Placement group ${group.id} has instances in it; remove or delete them first: ${named}`,
            members.length < LOOKED_AT
              ? await removersOf(
                  tx,
                  members.map(({ id: one }) => [{ kind: 'machine', id: one }]),
                )
              : [],
          );
        }
        const taskId = deletionId(scope);
        await store.hold(tx, group.id, taskId);
        return tasks.begin(tx, scope, {
          id: taskId,
          task: DELETE_SERVERGROUP,
          data: { servergroup_id: group.id },
          input: { groupId: group.id, ...quotaOwner(scope) },
          wants: [remove('server_group', group.id)],
        });
      }),
  };
}
