import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { idsOf } from '../../../lib/id-list.ts';
import { presentedPage } from '../../../lib/page.ts';
import type { Versioned } from '../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import { credentialRoutes } from './credentials/routes.ts';
import { limitRoutes } from './limits/routes.ts';
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
} from './schema.ts';
import { clusterDeletion, createCluster, getCluster, listClusters, updateCluster } from './service.ts';
import { upgradeRoutes } from './upgrades/routes.ts';

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
