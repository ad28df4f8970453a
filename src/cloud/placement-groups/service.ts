import { randomUUID } from 'node:crypto';
import { change, make, remove } from '../../convergence/wants.ts';
import type { Database, Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { ConflictError } from '../../lib/errors.ts';
import { foundById } from '../../lib/found.ts';
import { refuseHeld } from '../../lib/held.ts';
import { isUuid, newTaskId } from '../../lib/ids.ts';
import type { Page } from '../../lib/page.ts';
import { lockHost } from '../instances/in-transaction.ts';
import type { Scope } from '../projects/service.ts';
import { quotaOwner, takeQuota } from '../quotas/in-transaction.ts';
import type { Tasks } from '../tasks/service.ts';
import { leave, withoutGroup } from './in-transaction.ts';
import type { CreatePlacementGroup, PlacementGroupListQuery } from './schema.ts';
import * as store from './store.ts';
import { DELETE_SERVERGROUP } from './tasks.ts';

const SHOWN_IN_MESSAGE = 10;

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
        const locked = await lockMembers(tx, scope, id);
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
        const held = members.filter(
          (one) => !locked.some((free) => free.id === one.id && free.task_id === null),
        );
        if (held.length > 0) {
          const named = held.slice(0, SHOWN_IN_MESSAGE).map((one) => `${one.name} (${one.id})`);
          throw new ConflictError(
            `Tasks hold instances in placement group ${group.id}; wait until they end: ${named.join(', ')}`,
          );
        }
        for (const { id: instanceId } of members) await leave(tx, instanceId);
        const taskId = newTaskId();
        await store.hold(tx, group.id, taskId);
        return tasks.begin(tx, scope, {
          id: taskId,
          task: DELETE_SERVERGROUP,
          data: { servergroup_id: group.id },
          input: { groupId: group.id, ...quotaOwner(scope) },
          wants: [
            ...members.map((one) => change('machine', one.id, withoutGroup)),
            remove('server_group', group.id),
          ],
        });
      }),
  };
}

/** Instances are locked before their group. One that joins in between counts as held. */
async function lockMembers(tx: Transaction, scope: Scope, id: string) {
  const members = isUuid(id) ? await store.membersOf(tx, id) : [];
  const locked = [];
  for (const one of members) locked.push((await lockHost(tx, scope, one.id)) ?? []);
  return locked.flat();
}
