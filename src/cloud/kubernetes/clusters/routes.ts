import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { pageOf, presentedPage } from '../../../lib/page.ts';
import type { Versioned } from '../../../lib/versioned.ts';
import { Input, idsOf, ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { KubernetesVersionList, presentKubernetesVersion } from '../../ground/catalog/schema.ts';
import { presentedExceeded } from '../../ground/quotas/schema.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import { credentialRoutes } from './credentials/routes.ts';
import { CheckClusterLimits, CheckPoolLimits, ExceededClusterQuotas } from './limits/schema.ts';
import { limitsOfCluster, limitsOfPool } from './limits/service.ts';
import { CLUSTER_BASES, CLUSTER_COLUMNS, CLUSTER_NAME, type ClusterBase } from './params.ts';
import { poolRoutes } from './pools/routes.ts';
import {
  ClusterAnswer,
  ClusterList,
  ClusterListQuery,
  ClusterParams,
  ClusterUpdate,
  CreateCluster,
  DeleteClusterQuery,
  presentedCluster,
  VersionInput,
} from './schema.ts';
import { clusterDeletion, createCluster, getCluster, listClusters, updateCluster } from './service.ts';
import { clusterVersions, upgradeCluster } from './upgrades/service.ts';

/** Routes that ask about quotas, under the base path of one version. */
export function limitRoutes(app: Api, on: Platform, base: ClusterBase): void {
  const api = operations(app, { tags, params: ProjectRegionParams, access: 'read' });

  api.post(
    `${base.path}/check_limits`,
    `checkKubernetesClusterLimits${base.suffix}`,
    'Check quotas for a Kubernetes cluster',
    {
      onlyAsks: true,
      description:
        'Returns the quotas that a cluster with these pools would exceed. Nothing is reserved. Clusters, security groups, placement groups, machines and volumes are counted. There are no quotas for vCPUs, memory, GPUs and volume sizes. The topic of `logging` is not counted, since a cluster always gets it.',
      body: CheckClusterLimits,
      answer: ExceededClusterQuotas,
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
      body: CheckPoolLimits,
      answer: ExceededClusterQuotas,
      handler: async ({ scope, body }) => presentedExceeded(await limitsOfPool(on, scope, body)),
    },
  );
}

const UpgradeCluster = Input('UpgradeKubernetesCluster', { version: VersionInput }, { version: 'v1.33.9' });

/** Routes for upgrades of clusters, under the base path of one version. */
export function upgradeRoutes(app: Api, dialect: Dialect, on: Platform, base: ClusterBase): void {
  const api = operations(app, { tags, params: ClusterParams });

  api.get(
    `${base.path}/:cluster_name/upgrade_versions`,
    `listKubernetesUpgradeVersions${base.suffix}`,
    'List available upgrade versions of a Kubernetes cluster',
    {
      description:
        'Oldest first. Lists newer patches of the current minor version, and versions of the next one. While Slurm is enabled, only versions that it supports are listed.',
      query: ClusterListQuery,
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
const VERSIONED: Versioned = { table: 'kubernetes_clusters', columns: CLUSTER_COLUMNS };

export function clusterRoutes(app: Api, dialect: Dialect, on: Platform): void {
  for (const base of CLUSTER_BASES) {
    changingRoutes(app, dialect, on, base);
    readingRoutes(app, on, base);
    poolRoutes(app, dialect, on, base);
    upgradeRoutes(app, dialect, on, base);
    credentialRoutes(app, on, base);
    limitRoutes(app, on, base);
  }
}

function changingRoutes(app: Api, dialect: Dialect, on: Platform, base: ClusterBase): void {
  const api = operations(app, { tags, params: ClusterParams });

  api.post(base.path, `createKubernetesCluster${base.suffix}`, 'Create a Kubernetes cluster', {
    description:
      'Starts one task. The cluster can be read immediately, with the status Provisioning. If the task fails, nothing is left behind.',
    params: ProjectRegionParams,
    body: CreateCluster,
    answer: dialect.tasksSchema,
    handler: async ({ scope, body }) => dialect.tasks([await createCluster(on, scope, body)]),
  });

  api.patch(
    `${base.path}/${CLUSTER_NAME}`,
    `updateKubernetesCluster${base.suffix}`,
    'Update a Kubernetes cluster',
    {
      description:
        'Changes up to six groups of settings with one task. Everything is validated before the task starts; an update that changes nothing starts no task, and under `/gcore` names one that is FINISHED. The cluster shows the new settings when the task is FINISHED, and keeps the old ones if it ends in ERROR. Returns 409 while another task holds the cluster. On simulated infrastructure, enabling logging to the topic `simulate-failure` always fails, and the task ends in ERROR.',
      body: ClusterUpdate,
      answer: dialect.tasksSchema,
      handler: async ({ scope, params, body }) =>
        dialect.tasks(await updateCluster(on, scope, params.cluster_name, body, dialect)),
    },
  );

  api.delete(
    `${base.path}/${CLUSTER_NAME}`,
    `deleteKubernetesCluster${base.suffix}`,
    'Delete a Kubernetes cluster',
    {
      description:
        'Starts one task. Nodes are deleted with their volumes, except for volumes with snapshots. Waits for the deletion of a pool. Returns 409 while another task holds the cluster, or if the security group of its nodes is in use elsewhere.',
      query: DeleteClusterQuery,
      answer: dialect.tasksSchema,
      handler: async ({ scope, params, query }) => {
        const volumes = idsOf(query.volumes);
        return dialect.tasks([await deleteOrWait(on, scope, clusterDeletion, params.cluster_name, volumes)]);
      },
    },
  );
}

function readingRoutes(app: Api, on: Platform, base: ClusterBase): void {
  const api = operations(app, { tags, params: ProjectRegionParams });

  api.get(base.path, `listKubernetesClusters${base.suffix}`, 'List Kubernetes clusters', {
    description: 'Newest first.',
    query: ClusterListQuery,
    answer: ClusterList,
    handler: async ({ scope, query }) =>
      presentedPage(await listClusters(on, scope, query), presentedCluster),
  });

  api.get(`${base.path}/${CLUSTER_NAME}`, `getKubernetesCluster${base.suffix}`, 'Get a Kubernetes cluster', {
    versioned: VERSIONED,
    params: ClusterParams,
    answer: ClusterAnswer,
    handler: async ({ scope, params }) => presentedCluster(await getCluster(on, scope, params.cluster_name)),
  });
}
