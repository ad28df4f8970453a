import type { Database } from '../../../db/database.ts';
import type { Clock } from '../../../lib/clock.ts';
import { foundById } from '../../../lib/found.ts';
import type { Page } from '../../../lib/page.ts';
import type { TagHolder } from '../../ground/metadata/service.ts';
import type { Scope } from '../../ground/projects/service.ts';
import type { Tasks } from '../../ground/tasks/service.ts';
import { existingGroups } from '../ports/groups/in-transaction.ts';
import { changeGroup } from './apply-change.ts';
import { type GroupCreation, groupCreation } from './creation.ts';
import { type InstanceGroups, instanceGroups } from './of-instances/changes.ts';
import { removeGroup } from './removal.ts';
import { type RuleChanges, ruleChanges } from './rules/changes.ts';
import type { GroupListQuery } from './schema.ts';
import * as store from './store.ts';
import { type GroupUpdates, groupUpdates } from './updates.ts';

export interface SecurityGroups extends GroupCreation, GroupUpdates, RuleChanges, InstanceGroups {
  list(scope: Scope, query: GroupListQuery): Promise<Page<store.SecurityGroupRow>>;
  /** @throws NotFoundError */
  get(scope: Scope, id: string): Promise<store.SecurityGroupRow>;
  /** Returns the IDs of those groups that exist in the project and region, in lower case. */
  known(scope: Scope, ids: string[]): Promise<ReadonlySet<string>>;
  tags: TagHolder;
  /** @throws NotFoundError, ConflictError for the default group and while ports or rules use the group */
  delete(scope: Scope, id: string): Promise<void>;
}

export function createSecurityGroups(deps: {
  database: Database;
  clock: Clock;
  tasks: Tasks;
}): SecurityGroups {
  const { database } = deps;

  return {
    ...groupCreation(deps),
    ...groupUpdates(deps),
    ...ruleChanges(deps),
    ...instanceGroups(deps),

    list: (scope, query) => store.listGroups(database.sql, scope, query),

    get: found,

    known: (scope, ids) => database.transaction((tx) => existingGroups(tx, scope, ids)),

    tags: {
      read: found,
      async change(tx, scope, id, plan) {
        await changeGroup(deps, tx, scope, id, ({ tags }) => ({ tags: plan(tags) }));
      },
    },

    delete: (scope, id) => database.accept(scope.principal, (tx) => removeGroup(deps.tasks, tx, scope, id)),
  };

  async function found(scope: Scope, id: string): Promise<store.SecurityGroupRow> {
    return foundById('Security group', id, () => store.findGroup(database.sql, scope, id));
  }
}
