import { InvalidError } from '../../../lib/errors.ts';
import { patchedTags } from '../../../lib/tags.ts';
import type { Platform } from '../../../platform.ts';
import type { Scope } from '../../ground/projects/service.ts';
import type { TaskAnyway } from '../../ground/tasks/service.ts';
import { changeGroup } from './apply-change.ts';
import { defaultGroupRules } from './defaults/rules.ts';
import { noteUpdate } from './finished-tasks.ts';
import { changeToWanted, type GroupChange } from './group-change.ts';
import { acceptedRules } from './rules/accepted.ts';
import type { UpdateSecurityGroup, UpdateSecurityGroupTask } from './schema.ts';
import type { SecurityGroupRow } from './store.ts';

/**
 * Adds and removes single rules, changes name and tags.
 * @throws InvalidError, NotFoundError, ConflictError for an existing name or rule
 */
export async function updateSecurityGroup(
  on: Platform,
  scope: Scope,
  id: string,
  request: UpdateSecurityGroup,
): Promise<SecurityGroupRow> {
  const accepted = acceptedChanges(request.changed_rules ?? []);
  return change(on, scope, id, (group) => {
    refuseUnknownRules(accepted.removed, group);
    return {
      name: request.name,
      tags: patchedTags(group.tags, request.tags),
      removed: [...new Set(accepted.removed.map(({ ruleId }) => ruleId))],
      added: accepted.added,
    };
  });
}

/**
 * Replaces the rules by the given ones. Rules that mean the same stay.
 * @returns the task that reports it, undefined when nothing changes, unless `taskAnyway`
 * @throws InvalidError, NotFoundError, ConflictError
 */
export async function updateSecurityGroupByTask(
  on: Platform,
  scope: Scope,
  id: string,
  request: UpdateSecurityGroupTask,
  { taskAnyway }: TaskAnyway,
): Promise<string | undefined> {
  const { name, description, tags } = request;
  const wanted = request.rules && acceptedRules(request.rules, (position) => `rules.${position}`);
  return on.database.accept(async (tx) => {
    const { group, changed } = await changeGroup(on, tx, scope, id, (current) => ({
      name,
      description,
      tags: patchedTags(current.tags, tags),
      ...(wanted && changeToWanted(current.rules, wanted)),
    }));
    if (!changed && !taskAnyway) return undefined;
    return noteUpdate(on, tx, scope, { groupId: group.id, request });
  });
}

/** Replaces the rules by those of a default group. @throws NotFoundError, ConflictError */
export const revertSecurityGroup = (on: Platform, scope: Scope, id: string): Promise<SecurityGroupRow> =>
  change(on, scope, id, ({ rules }) => changeToWanted(rules, defaultGroupRules()));

function change(
  on: Platform,
  scope: Scope,
  id: string,
  plan: (group: SecurityGroupRow) => GroupChange,
): Promise<SecurityGroupRow> {
  return on.database.accept(async (tx) => (await changeGroup(on, tx, scope, id, plan)).group);
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
