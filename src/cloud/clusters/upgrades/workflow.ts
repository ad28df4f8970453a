import type { TaskHandler } from '../../../workflows/task-handler.ts';
import type { ClusterBackend } from '../backend.ts';
import { type ClusterRow, releaseCluster } from '../store.ts';
import { carryOut, MINUTE_MS, openChange, type Standing, standingOf } from '../work-steps.ts';

const UPGRADE = 'upgrade_k8s_cluster_v2';
const DEADLINE_MS = 60 * MINUTE_MS;

interface UpgradeInput {
  clusterId: string;
  /** With the leading `v`. */
  version: string;
  standing: Standing;
}

export function upgradeWork(cluster: ClusterRow, version: string) {
  const input: UpgradeInput = { clusterId: cluster.id, version, standing: standingOf(cluster) };
  return { type: UPGRADE, input, deadlineMs: DEADLINE_MS };
}

/**
 * Upgrades of clusters. One that fails isn't taken back, since Kubernetes goes no version down: the next change
 * applies every setting again, and another upgrade to the same version goes on.
 */
export function upgradeHandlers({ backend }: { backend: ClusterBackend }): TaskHandler[] {
  const upgrade: TaskHandler<UpgradeInput, void> = {
    type: UPGRADE,
    deadlineMs: DEADLINE_MS,
    async run(run, { clusterId, version, standing }) {
      await openChange(run, backend, clusterId, standing);
      // Nodes may be older than the control plane, never newer (Kubernetes version skew policy).
      await carryOut(run, 'upgrade control plane', (key) =>
        backend.upgradeControlPlane(key, clusterId, version),
      );
      for (const { name } of standing.pools) {
        await carryOut(run, `upgrade pool ${name}`, (key) =>
          backend.upgradePool(key, clusterId, name, version),
        );
      }
      await carryOut(run, 'await ready', (key) => backend.awaitReady(key, clusterId));
    },
    async complete(tx, task, { clusterId, version }) {
      await releaseCluster(tx, { clusterId, taskId: task.id }, { version });
      return null;
    },
    async abandon(tx, task, { clusterId }) {
      await releaseCluster(tx, { clusterId, taskId: task.id });
    },
  };
  return [upgrade];
}
