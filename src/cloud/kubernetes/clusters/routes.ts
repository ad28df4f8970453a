import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { ConflictError, InvalidError } from '../../../lib/errors.ts';
import { found, newTaskId } from '../../../lib/ids.ts';
import { pageOf, presentedPage } from '../../../lib/page.ts';
import type { Versioned } from '../../../lib/versioned.ts';
import { Input, idsOf, ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { KubernetesVersionList, presentKubernetesVersion } from '../../ground/catalog/schema.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import { beginTask } from '../../ground/tasks/service.ts';
import { runsSlurm } from './configuration/slurm.ts';
import { credentialRoutes } from './credentials/routes.ts';
import { limitRoutes } from './limits/routes.ts';
import { poolRoutes } from './pools/routes.ts';
import * as schema from './schema.ts';
import * as clusters from './service.ts';
import { type ClusterRow, findCluster, holdCluster } from './store.ts';
import { clusterUpgraded, UPGRADE_CLUSTER } from './tasks.ts';

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
export async function upgradeCluster(on: Platform, scope: Scope, name: string, asked: string): Promise<string> {
  const version = `v${asked.replace(/^v/, '')}`;
  return on.database.accept(async (tx) => {
    const cluster = await clusters.lockFreeCluster(tx, scope, name);
    const offered = offeredTo(on, cluster.version, scope);
    const possible = possibleVersions(cluster, offered);
    if (!offered.includes(version)) throw wrongVersion(version, cluster.version, possible);
    if (!possible.includes(version)) throw leavesSlurm(cluster.name, version);
    const taskId = newTaskId();
    holdCluster(tx, cluster.id, { taskId, status: 'Provisioned' });
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

const UpgradeCluster = Input('UpgradeKubernetesCluster', { version: schema.VersionInput }, { version: 'v1.33.9' });

/** Routes for upgrades of clusters, under the base path of one version. */
export function upgradeRoutes(app: Api, dialect: Dialect, on: Platform, base: schema.ClusterBase): void {
  const api = operations(app, { dialect, tags, params: schema.ClusterParams });

  api.get(
    `${base.path}/:cluster_name/upgrade_versions`,
    `listKubernetesUpgradeVersions${base.suffix}`,
    'List available upgrade versions of a Kubernetes cluster',
    {
      description:
        'Oldest first. Lists newer patches of the current minor version, and versions of the next one. While Slurm is enabled, only versions that it supports are listed.',
      query: schema.ClusterListQuery,
      answer: KubernetesVersionList,
      handler: async ({ scope, params, query }) =>
        pageOf(await clusterVersions(on, scope, params.cluster_name), query, presentKubernetesVersion),
    },
  );

  api.post(
    `${base.path}/:cluster_name/upgrade`,
    `upgradeKubernetesCluster${base.suffix}`,
    'Upgrade a Kubernetes cluster',
    {
      description:
        "Starts one task. The cluster shows the new version when the task has finished; its settings don't change. Only one minor version at a time; downgrades are not possible. Returns 409 while a task holds the cluster, and for a version that an enabled Slurm doesn't support.",
      body: UpgradeCluster,
      task: ({ scope, params, body }) => upgradeCluster(on, scope, params.cluster_name, body.version),
    },
  );
}

const tags = ['Kubernetes clusters'];
const VERSIONED: Versioned = { table: 'kubernetes_clusters', columns: schema.CLUSTER_COLUMNS };

export function clusterRoutes(app: Api, dialect: Dialect, on: Platform): void {
  for (const base of schema.CLUSTER_BASES) {
    changingRoutes(app, dialect, on, base);
    readingRoutes(app, on, base);
    poolRoutes(app, dialect, on, base);
    upgradeRoutes(app, dialect, on, base);
    credentialRoutes(app, on, base);
    limitRoutes(app, on, base);
  }
}

function changingRoutes(app: Api, dialect: Dialect, on: Platform, base: schema.ClusterBase): void {
  const api = operations(app, { dialect, tags, params: schema.ClusterParams });

  api.post(base.path, `createKubernetesCluster${base.suffix}`, 'Create a Kubernetes cluster', {
    description:
      'Starts one task. The cluster can be read immediately, with the status Provisioning. If the task fails, nothing is left behind.',
    params: ProjectRegionParams,
    body: schema.CreateCluster,
    task: ({ scope, body }) => clusters.createCluster(on, scope, body),
  });

  api.patch(
    `${base.path}/${schema.CLUSTER_NAME}`,
    `updateKubernetesCluster${base.suffix}`,
    'Update a Kubernetes cluster',
    {
      description:
        'Changes up to six groups of settings with one task. Everything is validated before the task starts; an update that changes nothing starts no task, and under `/gcore` names one that is FINISHED. The cluster shows the new settings when the task is FINISHED, and keeps the old ones if it ends in ERROR. Returns 409 while another task holds the cluster. On simulated infrastructure, enabling logging to the topic `simulate-failure` always fails, and the task ends in ERROR.',
      body: schema.ClusterUpdate,
      task: ({ scope, params, body }) => clusters.updateCluster(on, scope, params.cluster_name, body, dialect),
    },
  );

  api.delete(
    `${base.path}/${schema.CLUSTER_NAME}`,
    `deleteKubernetesCluster${base.suffix}`,
    'Delete a Kubernetes cluster',
    {
      description:
        'Starts one task. Nodes are deleted with their volumes, except for volumes with snapshots. Waits for the deletion of a pool. Returns 409 while another task holds the cluster, or if the security group of its nodes is in use elsewhere.',
      query: schema.DeleteClusterQuery,
      task: ({ scope, params, query }) =>
        deleteOrWait(on, scope, clusters.clusterDeletion, params.cluster_name, idsOf(query.volumes)),
    },
  );
}

function readingRoutes(app: Api, on: Platform, base: schema.ClusterBase): void {
  const api = operations(app, { tags, params: ProjectRegionParams });

  api.get(base.path, `listKubernetesClusters${base.suffix}`, 'List Kubernetes clusters', {
    description: 'Newest first.',
    query: schema.ClusterListQuery,
    answer: schema.ClusterList,
    handler: async ({ scope, query }) =>
      presentedPage(await clusters.listClusters(on, scope, query), schema.presentedCluster),
  });

  api.get(`${base.path}/${schema.CLUSTER_NAME}`, `getKubernetesCluster${base.suffix}`, 'Get a Kubernetes cluster', {
    versioned: VERSIONED,
    params: schema.ClusterParams,
    answer: schema.ClusterAnswer,
    handler: async ({ scope, params }) =>
      schema.presentedCluster(await clusters.getCluster(on, scope, params.cluster_name)),
  });
}
