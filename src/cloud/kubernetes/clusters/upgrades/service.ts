import { ConflictError, InvalidError } from '../../../../lib/errors.ts';
import { found, newTaskId } from '../../../../lib/ids.ts';
import type { Platform } from '../../../../platform.ts';
import type { Scope } from '../../../ground/projects/service.ts';
import { beginTask } from '../../../ground/tasks/service.ts';
import { runsSlurm } from '../configuration/slurm.ts';
import { lockFreeCluster } from '../free-cluster.ts';
import { type ClusterRow, findCluster, holdCluster } from '../store.ts';
import { clusterUpgraded, UPGRADE_CLUSTER } from '../tasks.ts';

/**
 * Returns the offered versions that a cluster of `version` may be upgraded to, in the given order: newer patches of
 * its minor version and all of the next minor, since the control plane of Kubernetes moves one minor at a time and
 * never down (Kubernetes version skew policy).
 */
export function upgradeVersions(version: string, offered: readonly string[]): string[] {
  const now = numbersOf(version);
  return offered.filter((candidate) => {
    const { major, minor, patch } = numbersOf(candidate);
    if (major !== now.major) return false;
    return minor === now.minor + 1 || (minor === now.minor && patch > now.patch);
  });
}

function numbersOf(version: string) {
  const [major = 0, minor = 0, patch = 0] = version.replace(/^v/, '').split('.').map(Number);
  return { major, minor, patch };
}

const offeredTo = (on: Platform, version: string, { region }: Scope) =>
  upgradeVersions(version, on.backends.clusterVersions(region.id, on.catalog.kubernetesVersions));

/** Returns the versions that the cluster may go to, oldest first, with leading `v`. @throws NotFoundError */
export async function clusterVersions(on: Platform, scope: Scope, name: string): Promise<string[]> {
  const cluster = found('Cluster', name, await findCluster(on.database.sql, scope, name));
  return possibleVersions(cluster, offeredTo(on, cluster.version, scope));
}

/**
 * @throws NotFoundError, InvalidError for any other version, ConflictError while a task holds the cluster, or if
 * Slurm doesn't run on the version
 */
export async function upgradeCluster(
  on: Platform,
  scope: Scope,
  name: string,
  asked: string,
): Promise<string> {
  const version = `v${asked.replace(/^v/, '')}`;
  return on.database.accept(async (tx) => {
    const cluster = await lockFreeCluster(tx, scope, name);
    const offered = offeredTo(on, cluster.version, scope);
    const possible = possibleVersions(cluster, offered);
    if (!offered.includes(version)) throw wrongVersion(version, cluster.version, possible);
    if (!possible.includes(version)) throw leavesSlurm(cluster.name, version);
    const taskId = newTaskId();
    await holdCluster(tx, cluster.id, { taskId, status: 'Provisioned' });
    return beginTask(on, tx, scope, {
      id: taskId,
      task: UPGRADE_CLUSTER,
      data: { cluster_name: name, version },
      input: { clusterId: cluster.id, version },
      wants: [clusterUpgraded({ id: cluster.id, version })],
    });
  });
}

/** Leaves out versions that would stop Slurm. */
function possibleVersions({ configuration }: ClusterRow, versions: string[]): string[] {
  return configuration.add_ons.slurm.enabled ? versions.filter(runsSlurm) : versions;
}

function leavesSlurm(name: string, version: string): ConflictError {
  return new ConflictError(
    `Slurm is enabled in cluster ${name} and doesn't support Kubernetes ${version}; disable Slurm first, or choose a version that it supports`,
  );
}

function wrongVersion(wanted: string, current: string, possible: readonly string[]): InvalidError {
  const choice = possible.length === 0 ? 'no upgrade is available' : `must be one of: ${possible.join(', ')}`;
  const message = `The cluster can't be upgraded from ${current} to ${wanted}: ${choice}.`;
  return new InvalidError([{ field: 'version', message }]);
}
