import type { SecurityGroupSpec, SecurityRuleSpec } from '../../../backends/contract/specs.ts';
import { type Name, remove, type Wanted } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { recordDoneTask } from '../../ground/tasks/service.ts';
import { withoutGroup } from '../ports/tasks.ts';
import type { CanonicalRule } from './rules/rule.ts';

interface GroupParts {
  name: string;
  description: string;
  rules: readonly (CanonicalRule & { id: string })[];
}

export function groupSpec({ name, description, rules }: GroupParts): SecurityGroupSpec {
  return { name, description, rules: Object.fromEntries(rules.map((rule) => [rule.id, ruleSpec(rule)])) };
}

/** Removes the group, also from the ports among `users` whose running change adds it: their rows don't have it yet. */
export const withoutIt = (users: readonly Name[], groupId: string): Wanted[] => [
  ...withoutGroup(
    users.filter(({ kind }) => kind === 'port').map(({ id }) => id),
    groupId,
  ),
  remove('security_group', groupId),
];

/** Leaves out the description, which is only for people. */
function ruleSpec(rule: CanonicalRule): SecurityRuleSpec {
  return {
    direction: rule.direction,
    ethertype: rule.ethertype,
    ...(rule.protocol !== null && { protocol: rule.protocol }),
    ...(rule.port_range_min !== null && { portRangeMin: rule.port_range_min }),
    ...(rule.port_range_max !== null && { portRangeMax: rule.port_range_max }),
    ...(rule.remote_ip_prefix !== null && { remoteIpPrefix: rule.remote_ip_prefix }),
    ...(rule.remote_group_id !== null && { remoteGroupId: rule.remote_group_id }),
  };
}

/*
 * In both versions of the API, groups and rules change in the transaction that accepts the request: nothing has to be
 * built, the next reader sees the change, and faults are refused at once instead of in a task. A worker would have to
 * check each change again when its turn comes, after others have changed the group. So tasks only exist for clients
 * that wait for one, and are FINISHED when they are accepted.
 */

export function noteCreation(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  { groupId, request }: { groupId: string; request: object },
): Promise<string> {
  const created = { security_groups: [groupId] };
  return recordDoneTask(on, tx, scope, { type: 'create_security_group', data: request, created });
}

export function noteUpdate(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  { groupId, request }: { groupId: string; request: object },
): Promise<string> {
  const data = { ...request, security_group_id: groupId };
  return recordDoneTask(on, tx, scope, { type: 'update_security_group', data, created: null });
}

export function noteRuleCreation(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  { request, groupId, ruleId }: { groupId: string; ruleId: string; request: object },
): Promise<string> {
  const data = { ...request, security_group_id: groupId };
  const created = { security_group_rules: [ruleId] };
  return recordDoneTask(on, tx, scope, { type: 'create_security_group_rule', data, created });
}

export function noteRuleRemoval(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  { groupId, ruleId }: { groupId: string; ruleId: string },
): Promise<string> {
  const data = { security_group_id: groupId, security_group_rule_id: ruleId };
  return recordDoneTask(on, tx, scope, { type: 'delete_security_group_rule', data, created: null });
}
