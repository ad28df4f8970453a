import { type Transaction, violates } from '../../db/database.ts';
import { ConflictError } from '../../lib/errors.ts';
import { foundById } from '../../lib/found.ts';
import type { Scope } from '../projects/service.ts';
import { quotaOwner, releaseQuota } from '../quotas/in-transaction.ts';
import type { Tasks } from '../tasks/service.ts';
import * as store from './store.ts';
import { withoutIt } from './wanted.ts';

const SHOWN_IN_MESSAGE = 10;

/**
 * @throws NotFoundError, ConflictError for the default group, for the group of a cluster's nodes, and while ports or
 * rules use the group
 */
export async function removeGroup(
  tasks: Pick<Tasks, 'want'>,
  tx: Transaction,
  scope: Scope,
  id: string,
): Promise<void> {
  const group = await foundById('Security group', id, () => store.lockGroup(tx, scope, id));
  scope.principal.writes?.about({ ...group, type: 'securitygroup' });
  if (group.is_default) throw new ConflictError('The default security group of a project cannot be deleted');
  if (group.cluster_id !== null) {
    throw new ConflictError(
      `Security group ${group.name} is that of the nodes of a Kubernetes cluster; it goes when the cluster is deleted`,
    );
  }
  const pools = await store.poolsOfGroup(tx.sql, id, SHOWN_IN_MESSAGE);
  if (pools.length > 0) {
    throw new ConflictError(
      `Security group ${group.name} is in use by pools of Kubernetes clusters; take it off these first: ${pools.join(', ')}`,
    );
  }
  const ports = await store.portsOfGroup(tx.sql, id, SHOWN_IN_MESSAGE);
  if (ports.length > 0) {
    throw new ConflictError(
      `Security group ${group.name} is in use; take it off these first with delsecuritygroup of the instance: ${ports.join(', ')}`,
    );
  }
  const others = await store.groupsReferringTo(tx.sql, id, SHOWN_IN_MESSAGE);
  if (others.length > 0) {
    throw new ConflictError(
      `Security group ${group.name} is in use: rules of these security groups name it as their remote group: ${others.join(', ')}`,
    );
  }
  try {
    await store.deleteGroup(tx, id);
  } catch (error) {
    if (!violates(error, 'kubernetes_pool_security_groups_group')) throw error;
    throw new ConflictError(`Security group ${group.name} is in use by a pool of a Kubernetes cluster`);
  }
  await tasks.want(tx, scope, await withoutIt(tx, group.id));
  await releaseQuota(tx, quotaOwner(scope), 'firewall_count');
}
