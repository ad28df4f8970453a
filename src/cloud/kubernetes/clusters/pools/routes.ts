import type { Dialect } from '../../../../http/dialect.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { pageOf } from '../../../../lib/page.ts';
import type { Versioned } from '../../../../lib/versioned.ts';
import type { Platform } from '../../../../platform.ts';
import { deleteOrWait } from '../../../ground/tasks/behind/service.ts';
import * as clustersSchema from '../schema.ts';
import { getCluster, poolOf } from '../service.ts';
import { ResizePool, UpdatePool } from './schema.ts';
import { clusterPoolDeletion, createClusterPool, resizeClusterPool, updateClusterPool } from './service.ts';

const tags = ['Kubernetes clusters'];
const VERSIONED: Versioned = {
  table: 'kubernetes_pools',
  columns: { pool_name: 'name' },
  within: { column: 'cluster_id', table: 'kubernetes_clusters', columns: clustersSchema.CLUSTER_COLUMNS },
};

/** Routes for the pools of clusters, under the base path of one version. */
export function poolRoutes(app: Api, dialect: Dialect, on: Platform, base: clustersSchema.ClusterBase): void {
  changingRoutes(app, dialect, on, base);
  readingRoutes(app, on, base);
}

function changingRoutes(app: Api, dialect: Dialect, on: Platform, base: clustersSchema.ClusterBase): void {
  const pools = `${base.path}/:cluster_name/pools`;

  const api = operations(app, { dialect, tags, params: clustersSchema.PoolParams });

  api.post(pools, `createKubernetesPool${base.suffix}`, 'Add a pool to a Kubernetes cluster', {
    description:
      'Starts one task. The pool can be read immediately, with the status Provisioning. If the task fails, nothing is left behind. Returns 409 while a task holds the cluster.',
    params: clustersSchema.ClusterParams,
    body: clustersSchema.CreatePool,
    task: ({ scope, params, body }) => createClusterPool(on, scope, params.cluster_name, body),
  });

  api.patch(`${pools}/:pool_name`, `updateKubernetesPool${base.suffix}`, 'Update a pool of a Kubernetes cluster', {
    description:
      "Takes effect immediately. The number of nodes doesn't change. Returns 409 while a task holds the cluster.",
    body: UpdatePool,
    answer: clustersSchema.PoolAnswer,
    handler: async ({ scope, params, body }) => {
      const { cluster_name: cluster, pool_name: pool } = params;
      return clustersSchema.presentedPool(await updateClusterPool(on, scope, cluster, pool, body), 'Provisioned');
    },
  });

  api.delete(`${pools}/:pool_name`, `deleteKubernetesPool${base.suffix}`, 'Delete a pool of a Kubernetes cluster', {
    description:
      'Starts one task. Deleting the last pool deletes the cluster; the task then has cluster_deleted in data. Waits for the deletion of another pool, unless it is the last one then. Returns 409 while another task holds the cluster, and for the last GPU pool while Slurm is enabled.',
    task: ({ scope, params }) => deleteOrWait(on, scope, clusterPoolDeletion, params.cluster_name, params.pool_name),
  });

  api.post(
    `${pools}/:pool_name/resize`,
    `resizeKubernetesPool${base.suffix}`,
    'Resize a pool of a Kubernetes cluster',
    {
      description: 'Starts one task. Returns 409 while a task holds the cluster.',
      body: ResizePool,
      task: ({ scope, params, body }) =>
        resizeClusterPool(on, scope, params.cluster_name, params.pool_name, body.node_count),
    },
  );
}

function readingRoutes(app: Api, on: Platform, base: clustersSchema.ClusterBase): void {
  const pools = `${base.path}/:cluster_name/pools`;

  const api = operations(app, { tags, params: clustersSchema.ClusterParams });

  api.get(pools, `listKubernetesPools${base.suffix}`, 'List the pools of a Kubernetes cluster', {
    query: clustersSchema.ClusterListQuery,
    answer: clustersSchema.PoolList,
    handler: async ({ scope, params, query }) => {
      const { pools, status } = await getCluster(on, scope, params.cluster_name);
      return pageOf(pools, query, (pool) => clustersSchema.presentedPool(pool, status));
    },
  });

  api.get(`${pools}/:pool_name`, `getKubernetesPool${base.suffix}`, 'Get a pool of a Kubernetes cluster', {
    versioned: VERSIONED,
    params: clustersSchema.PoolParams,
    answer: clustersSchema.PoolAnswer,
    handler: async ({ scope, params }) => {
      const { pools, status } = await getCluster(on, scope, params.cluster_name);
      return clustersSchema.presentedPool(poolOf({ pools }, params.pool_name), status);
    },
  });
}
