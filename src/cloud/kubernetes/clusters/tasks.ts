import { type TaskEnd, taskType } from '../../../convergence/task-kind.ts';
import type { Transaction } from '../../../db/database.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Secrets } from '../../../secrets/secrets.ts';
import * as nodes from '../../compute/instances/nodes/in-transaction.ts';
import * as placementGroups from '../../compute/placement-groups/in-transaction.ts';
import { type QuotaAmounts, type QuotaOwner, releaseQuotas } from '../../ground/quotas/in-transaction.ts';
import * as workerGroups from '../../network/security-groups/worker-groups/in-transaction.ts';
import { keepCredentials } from './credentials/store.ts';
import { keepLogTopic } from './log-topics.ts';
import * as store from './store.ts';

interface ClusterInput {
  clusterId: string;
}
export interface OwnedClusterInput extends ClusterInput, QuotaOwner {}
interface UpgradeInput extends ClusterInput {
  /** With the leading `v`. */
  version: string;
}

// All deadlines are shorter than the two hours that official clients wait.
export const CREATE_CLUSTER = taskType<OwnedClusterInput>('create_k8s_cluster_v2', 60);
export const UPDATE_CLUSTER = taskType<ClusterInput>('update_k8s_cluster_v2', 30);
export const UPGRADE_CLUSTER = taskType<UpgradeInput>('upgrade_k8s_cluster_v2', 60);
export const DELETE_CLUSTER = taskType<OwnedClusterInput>('delete_k8s_cluster_v2', 60);

/** How tasks on clusters end. The task holds the cluster until then. */
export function clusterTasks({ clock, secrets }: { clock: Clock; secrets: Secrets }): TaskEnd[] {
  const create: TaskEnd<OwnedClusterInput> = {
    ...CREATE_CLUSTER,
    async complete(tx, task, { clusterId }, seen) {
      await nodes.finish(tx, task.id, clock.now());
      await keepCredentials(tx.sql, secrets, clusterId, seen('cluster', clusterId));
      await store.releaseCluster(tx, { clusterId, taskId: task.id });
      await keepLogTopic(tx, clusterId, clock.now());
      return { k8s_clusters: [clusterId] };
    },
    async abandon(tx, task, input) {
      const freed = await nodes.takeBack(tx, task.id, clock.now());
      await removeCluster(tx, task, input, freed);
    },
  };

  const update: TaskEnd<ClusterInput> = {
    ...UPDATE_CLUSTER,
    async complete(tx, task, { clusterId }) {
      await store.adoptNextConfiguration(tx, clusterId);
      await store.releaseCluster(tx, { clusterId, taskId: task.id });
      await keepLogTopic(tx, clusterId, clock.now());
      return null;
    },
    async abandon(tx, task, { clusterId }) {
      await store.releaseCluster(tx, { clusterId, taskId: task.id });
    },
  };

  // After a failed upgrade, the former version is wanted again, which means "no further": see `ClusterSpec`.
  const upgrade: TaskEnd<UpgradeInput> = {
    ...UPGRADE_CLUSTER,
    async complete(tx, task, { clusterId, version }) {
      await store.releaseCluster(tx, { clusterId, taskId: task.id }, version);
      return null;
    },
    async abandon(tx, task, { clusterId }) {
      await store.releaseCluster(tx, { clusterId, taskId: task.id });
    },
  };

  const remove: TaskEnd<OwnedClusterInput> = {
    ...DELETE_CLUSTER,
    removes: true,
    async complete(tx, task, input) {
      const freed = await nodes.finish(tx, task.id, clock.now());
      await removeCluster(tx, task, input, freed);
      return null;
    },
  };

  return [create, update, upgrade, remove];
}

/** Releases the quotas of nodes that are gone. */
export async function giveBack(
  tx: Transaction,
  freed: nodes.FreedQuotas | undefined,
  also: QuotaAmounts = {},
): Promise<void> {
  if (freed) await releaseQuotas(tx, freed.owner, { ...freed.amounts, ...also });
}

/**
 * Deletes a cluster whose nodes are gone, with their security group, and releases all quotas at once. Who holds some
 * of an account's quotas and then locks others could deadlock with a creation.
 */
export async function removeCluster(
  tx: Transaction,
  task: { id: string },
  { clusterId, ...owner }: OwnedClusterInput,
  freed: nodes.FreedQuotas | undefined,
): Promise<void> {
  const servergroup_count = await placementGroups.countOf(tx, { clusterId });
  const groupId = await workerGroups.of(tx, clusterId);
  if (!(await store.deleteCluster(tx, { clusterId, taskId: task.id }))) return giveBack(tx, freed);
  const groupGone = groupId !== undefined && (await workerGroups.remove(tx, groupId));
  const own = { cluster_count: 1, firewall_count: groupGone ? 1 : 0, servergroup_count };
  await releaseQuotas(tx, owner, { ...freed?.amounts, ...own });
}
