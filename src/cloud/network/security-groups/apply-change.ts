import { put } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import { ConflictError } from '../../../lib/errors.ts';
import { foundById, newId } from '../../../lib/ids.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { wantChecked } from '../../ground/tasks/service.ts';
import { CLUSTER_TAG, refusePlatformRules } from './defaults/rules.ts';
import { changesNothing, type GroupChange, refuseRuleConflicts } from './group-change.ts';
import { deleteRules, insertRules, requireRemoteGroups, rulesOf, updateRules } from './rules/store.ts';
import * as store from './store.ts';
import { groupSpec } from './wanted.ts';

/** A group after a request, with the rules that the request added, in the request's order. */
export interface ChangedGroup {
  group: store.SecurityGroupRow;
  /** False when the request changed nothing. Then the group keeps its revision. */
  changed: boolean;
  addedRuleIds: string[];
}

/**
 * Applies what `plan` returns to a group, all at once and as one revision. Concurrent changes of a group wait for each
 * other.
 * @throws NotFoundError, ConflictError, and what `plan` throws
 */
export async function changeGroup(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  id: string,
  plan: (group: store.SecurityGroupRow) => GroupChange,
): Promise<ChangedGroup> {
  const locked = await foundById('Security group', id, () => store.lockForChange(tx, scope, id));
  tx.about({ ...locked, type: 'securitygroup' });
  const group = { ...locked, rules: await rulesOf(tx, locked.id) };
  const change = plan(group);
  if (changesNothing(group, change)) return { group, changed: false, addedRuleIds: [] };

  const { name, description, tags, removed = [], replaced = [] } = change;
  if (name !== undefined) refuseName(group, name);
  if (tags !== undefined) refuseTags(group, tags);
  const added = (change.added ?? []).map((rule) => ({ ...rule, id: newId() }));
  refusePlatformRules(group, change);
  refuseRuleConflicts(group, change);
  await requireRemoteGroups(tx, scope, [...replaced, ...added]);
  await deleteRules(tx, removed);
  await updateRules(tx, replaced);
  const afterLast = Math.max(-1, ...group.rules.map(({ position }) => position)) + 1;
  await insertRules(tx, group.id, added, afterLast);
  const fields = {
    name: name ?? group.name,
    description: description ?? group.description,
    tags: tags ?? group.tags,
  };
  const row = await store.updateGroup(tx, group.id, fields);
  const changed = { ...row, rules: await rulesOf(tx, group.id) };
  await wantChecked(on, tx, scope, [put('security_group', group.id, groupSpec(changed))]);
  return {
    group: changed,
    changed: true,
    addedRuleIds: added.map((rule) => rule.id),
  };
}

function refuseName(group: store.PlainGroup, name: string): void {
  if (name === group.name) return;
  if (group.is_default) {
    throw new ConflictError("The default security group of a project can't be renamed");
  }
  if (group.cluster_id !== null) {
    throw new ConflictError("The security group of the nodes of a Kubernetes cluster can't be renamed");
  }
  store.refuseDefaultName(name);
}

/** Protects the tag by which the official clients find the group of a cluster. */
function refuseTags(group: store.PlainGroup, tags: Record<string, string>): void {
  if (group.cluster_id === null || tags[CLUSTER_TAG] === group.tags[CLUSTER_TAG]) return;
  throw new ConflictError(
    `The tag ${CLUSTER_TAG} of the security group of the nodes of a Kubernetes cluster can't be changed or removed`,
  );
}
