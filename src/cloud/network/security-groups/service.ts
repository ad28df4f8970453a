import { lockLeaving } from '../../../convergence/wants.ts';
import { type Transaction, together, violates } from '../../../db/database.ts';
import { ConflictError, InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { foundById, LOOKED_AT, someOf } from '../../../lib/ids.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { ownsClient, type Principal, seesProject } from '../../../requests/principal.ts';
import type { TagHolder } from '../../ground/metadata/service.ts';
import { quotaOwner, releaseQuota } from '../../ground/quotas/service.ts';
import { usedBy, wantChecked } from '../../ground/tasks/service.ts';
import { existingGroups } from '../ports/groups/in-transaction.ts';
import { changeGroup } from './apply-change.ts';
import { acceptedRules, type CanonicalRule } from './rules/rule.ts';
import type { GroupListQuery, RulesOfGroup } from './schema.ts';
import * as store from './store.ts';
import { withoutIt } from './wanted.ts';

/**
 * Locks the group first: nobody begins to use it after its users are read. Its want comes before those of ports here, in another
 * order than elsewhere: requests want nothing of it without the group's lock.
 */
async function lockWithUsers(tx: Transaction, scope: Scope, id: string) {
  const [group, [users], locked] = await together(
    store.lockGroup(tx, scope, id),
    store.usersOfGroup(tx.sql, { id, limit: LOOKED_AT }),
    lockLeaving(tx, scope, { kind: 'security_group', id }),
  );
  return group && { ...group, users, locked };
}

type Users = Awaited<ReturnType<typeof store.usersOfGroup>>[number];

async function refuseUsed(tx: Transaction, { name }: { name: string }, users: Users | undefined): Promise<void> {
  const { ports = [], pools = [], groups = [] } = users ?? {};
  if (pools.length > 0) {
    const titles = pools.map((pool) => `pool ${pool.name} of cluster ${pool.clusterName}`);
    throw await usedBy(
      tx,
      `Security group ${name} is in use by pools of Kubernetes clusters; remove it from these first: ${someOf(titles)}`,
      pools.map(({ clusterId }) => [{ kind: 'cluster', id: clusterId }]),
    );
  }
  if (ports.length > 0) {
    const titles = ports.map((port) =>
      port.instanceId === null
        ? `port ${port.id}`
        : `port ${port.id} of instance ${port.instanceName} (${port.instanceId})`,
    );
    throw await usedBy(
      tx,
      `Security group ${name} is in use; use delsecuritygroup of the instance to remove it from these first: ${someOf(titles)}`,
      ports.map((port) => [
        { kind: 'port', id: port.id },
        ...(port.instanceId === null || port.reserved ? [] : [{ kind: 'machine' as const, id: port.instanceId }]),
      ]),
    );
  }
  if (groups.length > 0) {
    throw new ConflictError(
      `Security group ${name} is the remote group of rules in these security groups; delete the rules first: ${someOf(groups.map((group) => group.id))}`,
    );
  }
}

/**
 * @throws NotFoundError, ConflictError for the default group, for the group of a cluster's nodes, and while ports or
 * rules use the group
 */
export async function removeGroup(on: Platform, tx: Transaction, scope: Scope, id: string): Promise<void> {
  const { users, locked, ...group } = await foundById('Security group', id, () => lockWithUsers(tx, scope, id));
  tx.about({ ...group, type: 'securitygroup' });
  if (group.is_default) throw new ConflictError("The default security group of a project can't be deleted");
  if (group.cluster_id !== null) {
    throw new ConflictError(
      `Security group ${group.name} belongs to the nodes of a Kubernetes cluster and is deleted with the cluster`,
    );
  }
  await refuseUsed(tx, group, users);
  await wantChecked(on, tx, scope, withoutIt(locked.users, id), { locked });
  tx.send(
    (db, args: { id: string }) =>
      store.deleteGroup(db, args).catch((error: unknown) => {
        if (!violates(error, 'kubernetes_pool_security_groups_group')) throw error;
        throw new ConflictError(`Security group ${group.name} is in use by a pool of a Kubernetes cluster`);
      }),
    { id },
  );
  releaseQuota(tx, quotaOwner(scope), 'firewall_count');
}

export const listSecurityGroups = (on: Platform, scope: Scope, query: GroupListQuery) =>
  store.listGroups(on.database.sql, scope, query);

/** Returns the IDs of those groups that exist in the project and region, in lower case. */
export const knownSecurityGroups = (on: Platform, scope: Scope, ids: string[]): Promise<ReadonlySet<string>> =>
  on.database.transaction((tx) => existingGroups(tx, scope, ids));

export const securityGroupTags: TagHolder = {
  read: getSecurityGroup,
  async change(on, tx, scope, id, plan) {
    await changeGroup(on, tx, scope, id, ({ tags }) => ({ tags: plan(tags) }));
  },
};

/** @throws NotFoundError, ConflictError for the default group and while ports or rules use the group */
export const deleteSecurityGroup = (on: Platform, scope: Scope, id: string): Promise<void> =>
  on.database.accept((tx) => removeGroup(on, tx, scope, id));

/** @throws NotFoundError */
export async function getSecurityGroup(on: Platform, scope: Scope, id: string): Promise<store.SecurityGroupRow> {
  return foundById('Security group', id, () => store.findGroup(on.database.sql, scope, id));
}

/**
 * Returns the rules that groups would get, by group, checked as a change of the group checks them.
 * @throws InvalidError, ConflictError, NotFoundError for what is unknown, not the caller's, or in another project
 */
export async function draftedRules(
  on: Platform,
  principal: Principal,
  drafts: readonly RulesOfGroup[],
): Promise<Map<string, CanonicalRule[]>> {
  const wanted = new Map<string, CanonicalRule[]>();
  for (const [at, { security_group_id, rules }] of drafts.entries()) {
    const id = security_group_id.toLowerCase();
    if (wanted.has(id)) throw new InvalidError({ [`drafts.${at}.security_group_id`]: ['Is a duplicate.'] });
    wanted.set(
      id,
      acceptedRules(rules, (position) => `drafts.${at}.rules.${position}`),
    );
  }
  if (wanted.size === 0) return wanted;
  const remotes = (rules: readonly CanonicalRule[]) => rules.flatMap(({ remote_group_id }) => remote_group_id ?? []);
  const named = [...new Set([...wanted.keys(), ...[...wanted.values()].flatMap(remotes)])];
  const known = new Map((await store.placesOfGroups(on.database.sql, named)).map((group) => [group.id, group]));
  for (const [id, rules] of wanted) {
    const group = known.get(id);
    if (!group || !ownsClient(principal, group.client_id) || !seesProject(principal, group.project_id)) {
      throw new NotFoundError('Security group', id);
    }
    const isBeside = (other: typeof group | undefined) =>
      other?.project_id === group.project_id && other.region_id === group.region_id;
    const missing = remotes(rules).find((remote) => !isBeside(known.get(remote)));
    if (missing !== undefined) throw new NotFoundError('Remote security group', missing);
  }
  return wanted;
}
