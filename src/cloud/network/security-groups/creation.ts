import { make } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import { type FieldProblem, InvalidError } from '../../../lib/errors.ts';
import { foundById, isUuid, newId } from '../../../lib/ids.ts';
import { tagsOf } from '../../../lib/legacy-metadata.ts';
import { patchedTags } from '../../../lib/tags.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { takeQuota } from '../../ground/quotas/service.ts';
import { type TaskAnyway, wantChecked } from '../../ground/tasks/service.ts';
import { addToPorts } from '../ports/groups/in-transaction.ts';
import { portsOf as lockedPortsOf } from '../ports/in-transaction.ts';
import { asInRows } from '../ports/tasks.ts';
import { changeGroup } from './apply-change.ts';
import { CLUSTER_TAG, defaultGroupRules, openRules, withDefaultEgress } from './defaults/rules.ts';
import { changeToWanted, type GroupChange } from './group-change.ts';
import { acceptedRules, type CanonicalRule } from './rules/rule.ts';
import { requireRemoteGroups } from './rules/store.ts';
import type * as schema from './schema.ts';
import * as store from './store.ts';
import { groupSpec, noteCreation, noteUpdate } from './wanted.ts';

interface WantedGroup {
  name: string;
  description: string;
  tags: Record<string, string>;
  rules: CanonicalRule[];
}

/**
 * Creates a group with its rules and tags and puts it on all ports of the given instances, all at once.
 * @throws InvalidError, ConflictError for an existing name or rule, NotFoundError for a remote group,
 * QuotaExceededError
 */
export async function createSecurityGroup(
  on: Platform,
  scope: Scope,
  { security_group: given, instances: instanceIds = [] }: schema.CreateSecurityGroup,
): Promise<store.SecurityGroupRow> {
  const rules = acceptedRules(
    given.security_group_rules ?? [],
    (position) => `security_group.security_group_rules.${position}`,
  );
  const wanted = {
    name: given.name,
    description: given.description ?? '',
    tags: tagsOf(given, 'security_group.'),
    rules: withDefaultEgress(rules),
  };
  return on.database.accept(async (tx) => {
    const portIds = await portsOf(tx, scope, [...new Set(instanceIds)]);
    const group = await insert(on, tx, scope, wanted);
    await addToPorts(
      tx,
      portIds.map((portId) => ({ portId, groupId: group.id })),
    );
    await wantChecked(on, tx, scope, await asInRows(tx, portIds));
    return group;
  });
}

/** Does the same without instances. Returns the task that reports it. @throws as `createSecurityGroup` */
export async function createSecurityGroupByTask(on: Platform, scope: Scope, request: schema.CreateSecurityGroupTask) {
  const wanted = {
    name: request.name,
    description: request.description ?? '',
    tags: tagsOf(request),
    rules: request.rules ? acceptedRules(request.rules, (position) => `rules.${position}`) : openRules(),
  };
  return on.database.accept(async (tx) => {
    const group = await insert(on, tx, scope, wanted);
    return noteCreation(on, tx, scope, { groupId: group.id, request });
  });
}

/**
 * Creates a group with the rules, description and tags of another one.
 * @throws NotFoundError, ConflictError, QuotaExceededError
 */
export async function copySecurityGroup(on: Platform, scope: Scope, id: string, name: string) {
  return on.database.accept(async (tx) => {
    const source = await foundById('Security group', id, () => store.findGroup(tx.sql, scope, id));
    const { description, cluster_id, tags } = source;
    const { [CLUSTER_TAG]: _, ...others } = tags;
    return insert(on, tx, scope, {
      name,
      description,
      // With the tag, the official clients would take the copy for the cluster's own group.
      tags: cluster_id === null ? tags : others,
      rules: source.rules.map(copied),
    });
  });
}

async function insert(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  wanted: WantedGroup,
): Promise<store.SecurityGroupRow> {
  const { rules, ...group } = wanted;
  store.refuseDefaultName(group.name);
  await requireRemoteGroups(tx, scope, rules);
  const identified = rules.map((rule) => ({ ...rule, id: newId() }));
  const made = store.insertGroup(tx, { ...group, id: newId(), place: scope, rules: identified });
  tx.about({ ...made, type: 'securitygroup' });
  await wantChecked(on, tx, scope, [make('security_group', made.id, groupSpec(made))]);
  takeQuota(tx, scope, 'firewall_count');
  return made;
}

async function portsOf(tx: Transaction, scope: Scope, instanceIds: string[]): Promise<string[]> {
  if (instanceIds.length === 0) return [];
  const ports = await lockedPortsOf(tx, scope, instanceIds.filter(isUuid));
  const unknown = instanceIds.flatMap((id, index): FieldProblem[] =>
    ports.has(id) ? [] : [{ field: `instances.${index}`, message: `No instance ${id} in this project and region.` }],
  );
  if (unknown.length > 0) throw new InvalidError(unknown);
  return [...ports.values()].flat();
}

function copied(rule: CanonicalRule): CanonicalRule {
  return {
    direction: rule.direction,
    ethertype: rule.ethertype,
    protocol: rule.protocol,
    port_range_min: rule.port_range_min,
    port_range_max: rule.port_range_max,
    remote_ip_prefix: rule.remote_ip_prefix,
    remote_group_id: rule.remote_group_id,
    description: rule.description,
  };
}

/**
 * Adds and removes single rules, changes name and tags.
 * @throws InvalidError, NotFoundError, ConflictError for an existing name or rule
 */
export async function updateSecurityGroup(
  on: Platform,
  scope: Scope,
  id: string,
  request: schema.UpdateSecurityGroup,
): Promise<store.SecurityGroupRow> {
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
  request: schema.UpdateSecurityGroupTask,
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
export const revertSecurityGroup = (on: Platform, scope: Scope, id: string): Promise<store.SecurityGroupRow> =>
  change(on, scope, id, ({ rules }) => changeToWanted(rules, defaultGroupRules()));

function change(on: Platform, scope: Scope, id: string, plan: (group: store.SecurityGroupRow) => GroupChange) {
  return on.database.accept(async (tx) => (await changeGroup(on, tx, scope, id, plan)).group);
}

type Change = NonNullable<schema.UpdateSecurityGroup['changed_rules']>[number];

/** Returns the rules to remove and to add, checked as far as possible without the group. */
function acceptedChanges(changes: Change[]) {
  const placed = changes.map((change, position) => ({ change, field: `changed_rules.${position}` }));
  const created = placed.flatMap(({ change, field }) => (change.action === 'create' ? [{ rule: change, field }] : []));
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

function refuseUnknownRules(removed: { ruleId: string; field: string }[], group: store.SecurityGroupRow): void {
  const known = new Set(group.rules.map(({ id }) => id));
  const problems = removed
    .filter(({ ruleId }) => !known.has(ruleId))
    .map(({ ruleId, field }) => ({
      field,
      message: `Security group ${group.id} has no rule ${ruleId}; leave this change out.`,
    }));
  if (problems.length > 0) throw new InvalidError(problems);
}
