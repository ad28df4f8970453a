import type { Database } from '../../../db/database.ts';
import type { Clock } from '../../../lib/clock.ts';
import { InvalidError } from '../../../lib/errors.ts';
import { patchedTags } from '../../../lib/tags-patch.ts';
import type { Scope } from '../../ground/projects/service.ts';
import type { TaskAnyway, Tasks } from '../../ground/tasks/service.ts';
import { changeGroup } from './apply-change.ts';
import { defaultGroupRules } from './defaults/rules.ts';
import { noteUpdate } from './finished-tasks.ts';
import { changeToWanted, type GroupChange } from './group-change.ts';
import { acceptedRules } from './rules/accepted.ts';
import type { UpdateSecurityGroup, UpdateSecurityGroupTask } from './schema.ts';
import type { SecurityGroupRow } from './store.ts';

/** Each update is one revision of the group, or none if nothing changes. */
export interface GroupUpdates {
  /**
   * Adds and removes single rules, changes name and tags.
   * @throws InvalidError, NotFoundError, ConflictError for an existing name or rule
   */
  update(scope: Scope, id: string, request: UpdateSecurityGroup): Promise<SecurityGroupRow>;
  /**
   * Replaces the rules by the given ones. Rules that mean the same stay.
   * @returns the task that reports it, undefined when nothing changes, unless `taskAnyway`
   * @throws InvalidError, NotFoundError, ConflictError
   */
  updateByTask(
    scope: Scope,
    id: string,
    request: UpdateSecurityGroupTask,
    options: TaskAnyway,
  ): Promise<string | undefined>;
  /** Replaces the rules by those of a default group. @throws NotFoundError, ConflictError */
  revert(scope: Scope, id: string): Promise<SecurityGroupRow>;
}

export function groupUpdates(deps: { database: Database; clock: Clock; tasks: Tasks }): GroupUpdates {
  const { database, tasks } = deps;

  return {
    async update(scope, id, request) {
      const accepted = acceptedChanges(request.changed_rules ?? []);
      return change(scope, id, (group) => {
        refuseUnknownRules(accepted.removed, group);
        return {
          name: request.name,
          tags: patchedTags(group.tags, request.tags),
          removed: [...new Set(accepted.removed.map(({ ruleId }) => ruleId))],
          added: accepted.added,
        };
      });
    },

    async updateByTask(scope, id, request, { taskAnyway }) {
      const { name, description, tags } = request;
      const wanted = request.rules && acceptedRules(request.rules, (position) => `rules.${position}`);
      return database.accept(scope.principal, async (tx) => {
        const { group, changed } = await changeGroup(deps, tx, scope, id, (current) => ({
          name,
          description,
          tags: patchedTags(current.tags, tags),
          ...(wanted && changeToWanted(current.rules, wanted)),
        }));
        if (!changed && !taskAnyway) return undefined;
        return noteUpdate(tx, tasks, scope, { groupId: group.id, request });
      });
    },

    revert: (scope, id) => change(scope, id, ({ rules }) => changeToWanted(rules, defaultGroupRules())),
  };

  function change(
    scope: Scope,
    id: string,
    plan: (group: SecurityGroupRow) => GroupChange,
  ): Promise<SecurityGroupRow> {
    return database.accept(
      scope.principal,
      async (tx) => (await changeGroup(deps, tx, scope, id, plan)).group,
    );
  }
}

type Change = NonNullable<UpdateSecurityGroup['changed_rules']>[number];

/** Returns the rules to remove and to add, checked as far as possible without the group. */
function acceptedChanges(changes: Change[]) {
  const placed = changes.map((change, position) => ({ change, field: `changed_rules.${position}` }));
  const created = placed.flatMap(({ change, field }) =>
    change.action === 'create' ? [{ rule: change, field }] : [],
  );
  const removed = placed.flatMap(({ change, field }) =>
    change.action === 'delete'
      ? [{ ruleId: change.security_group_rule_id.toLowerCase(), field: `${field}.security_group_rule_id` }]
      : [],
  );
  const added = acceptedRules(
    created.map(({ rule }) => rule),
    (position) => created[position]?.field ?? '',
  );
  return { removed, added };
}

function refuseUnknownRules(removed: { ruleId: string; field: string }[], group: SecurityGroupRow): void {
  const known = new Set(group.rules.map(({ id }) => id));
  const problems = removed
    .filter(({ ruleId }) => !known.has(ruleId))
    .map(({ ruleId, field }) => ({
      field,
      message: `Security group ${group.id} has no rule ${ruleId}; leave this change out.`,
    }));
  if (problems.length > 0) throw new InvalidError(problems);
}
