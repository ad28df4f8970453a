import { usersOf, want, make as wantedAnew } from '../../../../convergence/wants.ts';
import type { Transaction } from '../../../../db/database.ts';
import { ConflictError } from '../../../../lib/errors.ts';
import { newId } from '../../../../lib/ids.ts';
import type { Scope } from '../../../../platform.ts';
import { CLUSTER_TAG, defaultEgressRules, PLATFORM_RULE } from '../defaults/rules.ts';
import { type CanonicalRule, canonicalRule } from '../rules/rule.ts';
import * as store from '../store.ts';
import { groupSpec, withoutIt } from '../wanted.ts';

const SHOWN_IN_MESSAGE = 10;

/* The security group of all nodes of a cluster. Created and deleted with the cluster; counts in `firewall_count`. */

/** Returns the group of a cluster; undefined when it has none. */
export { groupOfCluster } from '../store.ts';

/** Creates the group. The caller takes the quotas. @throws ConflictError when another group has its name */
export async function make(tx: Transaction, scope: Scope, cluster: { id: string; name: string }): Promise<void> {
  const name = `${cluster.name}-${scope.regionId}-${scope.projectId}-worker`;
  const id = newId();
  const group = {
    id,
    place: scope,
    name,
    description: `Nodes of Kubernetes cluster ${cluster.name}`,
    tags: { [CLUSTER_TAG]: cluster.name },
    clusterId: cluster.id,
    rules: platformRules(id).map((rule) => ({ ...rule, id: newId() })),
  };
  store.insertGroup(tx, group);
  await want(tx, scope, [wantedAnew('security_group', id, groupSpec(group))]);
}

/** @throws ConflictError when something outside the cluster uses its group */
export async function refuseUsed(tx: Transaction, cluster: { id: string; name: string }): Promise<void> {
  const users = await store.usersOfClusterGroup(tx, cluster.id, SHOWN_IN_MESSAGE);
  if (users.length === 0) return;
  throw new ConflictError(
    `Cluster ${cluster.name} can't be deleted because the security group of its nodes is in use; remove the group from these first: ${users.join(', ')}`,
  );
}

/** Deletes the group of a deleted cluster. Returns false if others use it by now: it becomes an ordinary group. */
export async function remove(tx: Transaction, groupId: string): Promise<boolean> {
  await store.lockGroupById(tx, groupId);
  const gone = await store.deleteUnusedGroup(tx, groupId);
  if (gone) {
    const users = await usersOf(tx.sql, [{ kind: 'security_group', id: groupId }]);
    await want(tx, null, withoutIt(users, groupId));
  }
  return gone;
}

/** Returns the rules that let nodes reach each other and everything outside. */
function platformRules(groupId: string): CanonicalRule[] {
  const families = ['IPv4', 'IPv6'] as const;
  const among = families.map((ethertype) =>
    canonicalRule({ direction: 'ingress', ethertype, remote_group_id: groupId }),
  );
  return [...among, ...defaultEgressRules()].map((rule) => ({ ...rule, description: PLATFORM_RULE }));
}
