import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { ConflictError, InvalidError, type QuotaExceededError } from '../../../lib/errors.ts';
import { found, newTaskId } from '../../../lib/ids.ts';
import { pageOf, presentedPage } from '../../../lib/page.ts';
import type { Versioned } from '../../../lib/versioned.ts';
import { Input, idsOf, ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { quotasOf as nodeQuotas } from '../../compute/instances/nodes/in-transaction.ts';
import { groupsFor } from '../../compute/placement-groups/service.ts';
import { isBareMetal } from '../../ground/catalog/flavor-schema.ts';
import { KubernetesVersionList, presentKubernetesVersion } from '../../ground/catalog/schema.ts';
import { presentedExceeded } from '../../ground/quotas/schema.ts';
import { exceededQuotas, type QuotaAmounts } from '../../ground/quotas/service.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import { beginTask } from '../../ground/tasks/service.ts';
import { runsSlurm } from './configuration/slurm.ts';
import { credentialRoutes } from './credentials/routes.ts';
import * as limitsSchema from './limits/schema.ts';
import { poolRoutes } from './pools/routes.ts';
import { kindProblems, poolOffer } from './pools.ts';
import * as schema from './schema.ts';
import * as clusters from './service.ts';
import { CLUSTER_QUOTAS, type ClusterRow, findCluster, holdCluster } from './store.ts';
import { clusterUpgraded, UPGRADE_CLUSTER } from './tasks.ts';

type ExceededQuota = QuotaExceededError['info'];

/** @throws InvalidError for a flavor that isn't offered for pools in the region */
export const limitsOfCluster = (
  on: Platform,
  scope: Scope,
  { pools }: limitsSchema.CheckClusterLimits,
): Promise<ExceededQuota[]> =>
  exceeded(on, scope, {
    ...CLUSTER_QUOTAS,
    ...quotasOf(on, scope, pools ?? [], (index) => `pools.${index}.`),
  });

/** @throws as `limitsOfCluster` */
export const limitsOfPool = (
  on: Platform,
  scope: Scope,
  pool: limitsSchema.QuotaPool,
): Promise<ExceededQuota[]> =>
  exceeded(
    on,
    scope,
    quotasOf(on, scope, [pool], () => ''),
  );

function quotasOf(
  on: Platform,
  scope: Scope,
  pools: limitsSchema.QuotaPool[],
  pathOf: (index: number) => string,
): QuotaAmounts {
  const offer = poolOffer(on.catalog, scope);
  const problems = pools.flatMap((pool, index) => kindProblems(pool, offer, [], pathOf(index)));
  if (problems.length > 0) throw new InvalidError(problems);
  const nodes = nodeQuotas(
    pools.map(({ flavor_id: flavorId, node_count: nodes, min_node_count: fewest }) => ({
      amount: Math.max(nodes ?? 1, fewest ?? 1),
      bootDisk: isBareMetal(flavorId) ? null : {},
    })),
  );
  const grouped = pools.map(({ flavor_id, servergroup_policy }) => ({
    // A virtual pool can't be made without a policy.
    servergroup_policy: isBareMetal(flavor_id) ? null : (servergroup_policy ?? 'anti-affinity'),
  }));
  return { ...nodes, servergroup_count: groupsFor(grouped) };
}

function exceeded(on: Platform, scope: Scope, quotas: QuotaAmounts): Promise<ExceededQuota[]> {
  return exceededQuotas(on.database.sql, scope, quotas);
}

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
    const cluster = await clusters.lockFreeCluster(tx, scope, name);
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

/** Routes that ask about quotas, under the base path of one version. */
export function limitRoutes(app: Api, on: Platform, base: schema.ClusterBase): void {
  const api = operations(app, { tags, params: ProjectRegionParams, access: 'read' });

  api.post(
    `${base.path}/check_limits`,
    `checkKubernetesClusterLimits${base.suffix}`,
    'Check quotas for a Kubernetes cluster',
    {
      onlyAsks: true,
      description:
        'Returns the quotas that a cluster with these pools would exceed. Nothing is reserved. Clusters, security groups, placement groups, machines and volumes are counted. There are no quotas for vCPUs, memory, GPUs and volume sizes. The topic of `logging` is not counted, since a cluster always gets it.',
      body: limitsSchema.CheckClusterLimits,
      answer: limitsSchema.ExceededClusterQuotas,
      handler: async ({ scope, body }) => presentedExceeded(await limitsOfCluster(on, scope, body)),
    },
  );

  api.post(
    `${base.path}/pools/check_limits`,
    `checkKubernetesPoolLimits${base.suffix}`,
    'Check quotas for a pool of a Kubernetes cluster',
    {
      onlyAsks: true,
      description: 'Returns the quotas that another pool like this would exceed. Nothing is reserved.',
      body: limitsSchema.CheckPoolLimits,
      answer: limitsSchema.ExceededClusterQuotas,
      handler: async ({ scope, body }) => presentedExceeded(await limitsOfPool(on, scope, body)),
    },
  );
}

const UpgradeCluster = Input(
  'UpgradeKubernetesCluster',
  { version: schema.VersionInput },
  { version: 'v1.33.9' },
);

/** Routes for upgrades of clusters, under the base path of one version. */
export function upgradeRoutes(app: Api, dialect: Dialect, on: Platform, base: schema.ClusterBase): void {
  const api = operations(app, { tags, params: schema.ClusterParams });

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
      answer: dialect.tasksSchema,
      handler: async ({ scope, params, body }) =>
        dialect.tasks([await upgradeCluster(on, scope, params.cluster_name, body.version)]),
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
  const api = operations(app, { tags, params: schema.ClusterParams });

  api.post(base.path, `createKubernetesCluster${base.suffix}`, 'Create a Kubernetes cluster', {
    description:
      'Starts one task. The cluster can be read immediately, with the status Provisioning. If the task fails, nothing is left behind.',
    params: ProjectRegionParams,
    body: schema.CreateCluster,
    answer: dialect.tasksSchema,
    handler: async ({ scope, body }) => dialect.tasks([await clusters.createCluster(on, scope, body)]),
  });

  api.patch(
    `${base.path}/${schema.CLUSTER_NAME}`,
    `updateKubernetesCluster${base.suffix}`,
    'Update a Kubernetes cluster',
    {
      description:
        'Changes up to six groups of settings with one task. Everything is validated before the task starts; an update that changes nothing starts no task, and under `/gcore` names one that is FINISHED. The cluster shows the new settings when the task is FINISHED, and keeps the old ones if it ends in ERROR. Returns 409 while another task holds the cluster. On simulated infrastructure, enabling logging to the topic `simulate-failure` always fails, and the task ends in ERROR.',
      body: schema.ClusterUpdate,
      answer: dialect.tasksSchema,
      handler: async ({ scope, params, body }) =>
        dialect.tasks(await clusters.updateCluster(on, scope, params.cluster_name, body, dialect)),
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
      answer: dialect.tasksSchema,
      handler: async ({ scope, params, query }) => {
        const volumes = idsOf(query.volumes);
        return dialect.tasks([
          await deleteOrWait(on, scope, clusters.clusterDeletion, params.cluster_name, volumes),
        ]);
      },
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

  api.get(
    `${base.path}/${schema.CLUSTER_NAME}`,
    `getKubernetesCluster${base.suffix}`,
    'Get a Kubernetes cluster',
    {
      versioned: VERSIONED,
      params: schema.ClusterParams,
      answer: schema.ClusterAnswer,
      handler: async ({ scope, params }) =>
        schema.presentedCluster(await clusters.getCluster(on, scope, params.cluster_name)),
    },
  );
}
