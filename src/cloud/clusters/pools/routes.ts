import type { Dialect } from '../../../http/dialect.ts';
import type { Api } from '../../../http/server.ts';
import { pageOf } from '../../../lib/page.ts';
import { type Projects, scopeOf } from '../../projects/service.ts';
import { PoolAnswer, PoolList } from '../answer-schema.ts';
import { poolOf } from '../free-cluster.ts';
import { presentedPool } from '../presenter.ts';
import { ClusterListQuery, ClusterParams, CreatePool, PoolParams } from '../schema.ts';
import type { Clusters } from '../service.ts';
import { ResizePool, UpdatePool } from './schema.ts';
import type { ClusterPools } from './service.ts';

const tags = ['Kubernetes clusters'];

interface PoolRouteDependencies {
  projects: Projects;
  clusters: Clusters;
  clusterPools: ClusterPools;
}

/** The pools of clusters, under one version's `base`. */
export function poolRoutes(
  app: Api,
  dialect: Dialect,
  deps: PoolRouteDependencies,
  base: string,
  suffix: string,
): void {
  changingRoutes(app, dialect, deps, `${base}/:cluster_name/pools`, suffix);
  readingRoutes(app, deps, `${base}/:cluster_name/pools`, suffix);
}

function changingRoutes(
  app: Api,
  dialect: Dialect,
  { projects, clusterPools }: PoolRouteDependencies,
  base: string,
  suffix: string,
): void {
  app.post(base, {
    config: { access: 'operate' },
    schema: {
      operationId: `createKubernetesPool${suffix}`,
      summary: 'Add a pool to a Kubernetes cluster',
      description:
        'Starts one task. The pool can be read at once, as Provisioning; a creation that fails leaves nothing behind. Refused with 409 while a task holds the cluster.',
      tags,
      params: ClusterParams,
      body: CreatePool,
      response: { 200: dialect.tasksSchema },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      const { cluster_name: cluster } = request.params;
      return dialect.tasks([await clusterPools.create(scope, cluster, request.body)]);
    },
  });

  app.patch(`${base}/:pool_name`, {
    config: { access: 'operate' },
    schema: {
      operationId: `updateKubernetesPool${suffix}`,
      summary: 'Update a pool of a Kubernetes cluster',
      description:
        'Takes effect at once, and leaves the number of nodes as it is. Refused with 409 while a task holds the cluster.',
      tags,
      params: PoolParams,
      body: UpdatePool,
      response: { 200: PoolAnswer },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      const { cluster_name: cluster, pool_name: pool } = request.params;
      return presentedPool(await clusterPools.update(scope, cluster, pool, request.body), 'Provisioned');
    },
  });

  app.delete(`${base}/:pool_name`, {
    config: { access: 'operate' },
    schema: {
      operationId: `deleteKubernetesPool${suffix}`,
      summary: 'Delete a pool of a Kubernetes cluster',
      description:
        'Starts one task. The cluster goes with its last pool. Refused with 409 while a task holds the cluster, and for the last pool with GPUs while Slurm is on.',
      tags,
      params: PoolParams,
      response: { 200: dialect.tasksSchema },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      const { cluster_name: cluster, pool_name: pool } = request.params;
      return dialect.tasks([await clusterPools.delete(scope, cluster, pool)]);
    },
  });

  app.post(`${base}/:pool_name/resize`, {
    config: { access: 'operate' },
    schema: {
      operationId: `resizeKubernetesPool${suffix}`,
      summary: 'Resize a pool of a Kubernetes cluster',
      description: 'Starts one task. Refused with 409 while a task holds the cluster.',
      tags,
      params: PoolParams,
      body: ResizePool,
      response: { 200: dialect.tasksSchema },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      const { cluster_name: cluster, pool_name: pool } = request.params;
      return dialect.tasks([await clusterPools.resize(scope, cluster, pool, request.body.node_count)]);
    },
  });
}

function readingRoutes(
  app: Api,
  { projects, clusters }: PoolRouteDependencies,
  base: string,
  suffix: string,
): void {
  app.get(base, {
    config: { access: 'read' },
    schema: {
      operationId: `listKubernetesPools${suffix}`,
      summary: 'List the pools of a Kubernetes cluster',
      tags,
      params: ClusterParams,
      querystring: ClusterListQuery,
      response: { 200: PoolList },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      const { pools, status } = await clusters.get(scope, request.params.cluster_name);
      return pageOf(pools, request.query, (pool) => presentedPool(pool, status));
    },
  });

  app.get(`${base}/:pool_name`, {
    config: { access: 'read' },
    schema: {
      operationId: `getKubernetesPool${suffix}`,
      summary: 'Get a pool of a Kubernetes cluster',
      tags,
      params: PoolParams,
      response: { 200: PoolAnswer },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      const { pools, status } = await clusters.get(scope, request.params.cluster_name);
      return presentedPool(poolOf({ pools }, request.params.pool_name), status);
    },
  });
}
