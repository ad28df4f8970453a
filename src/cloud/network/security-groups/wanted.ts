import type { SecurityGroupSpec, SecurityRuleSpec } from '../../../backends/contract/specs.ts';
import { dependentsOf, remove, type Wanted } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import { withoutGroup } from '../ports/tasks.ts';
import type { CanonicalRule } from './rules/canonical.ts';

interface GroupParts {
  name: string;
  description: string;
  rules: readonly (CanonicalRule & { id: string })[];
}

export function groupSpec({ name, description, rules }: GroupParts): SecurityGroupSpec {
  return { name, description, rules: Object.fromEntries(rules.map((rule) => [rule.id, ruleSpec(rule)])) };
}

/** Removes the group, also from ports whose running change adds it: their rows don't have it yet. */
export async function withoutIt(tx: Transaction, groupId: string): Promise<Wanted[]> {
  const ports = await dependentsOf(tx, 'port', [{ kind: 'security_group', id: groupId }]);
  return [...withoutGroup(ports, groupId), remove('security_group', groupId)];
}

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
