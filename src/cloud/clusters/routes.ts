import type { Dialect } from '../../http/dialect.ts';
import type { Api } from '../../http/server.ts';
import { ProjectRegionParams } from '../../lib/wire.ts';
import { type Projects, scopeOf } from '../projects/service.ts';
import { ClusterAnswer, ClusterList } from './answer-schema.ts';
import { credentialRoutes } from './credentials/routes.ts';
import type { ClusterCredentials } from './credentials/service.ts';
import { poolRoutes } from './pools/routes.ts';
import type { ClusterPools } from './pools/service.ts';
import { presentedCluster } from './presenter.ts';
import {
  ClusterListQuery,
  ClusterParams,
  ClusterUpdate,
  CreateCluster,
  DeleteClusterQuery,
} from './schema.ts';
import type { Clusters } from './service.ts';
import { upgradeRoutes } from './upgrades/routes.ts';
import type { ClusterUpgrades } from './upgrades/service.ts';

/** The specification's cloud operations carry v1, the published contract has clusters under v2. They are the same operations. */
const VERSIONS = [
  { version: 'v1', suffix: '' },
  { version: 'v2', suffix: 'V2' },
] as const;
const tags = ['Kubernetes clusters'];

interface ClusterRouteDependencies {
  projects: Projects;
  clusters: Clusters;
  clusterPools: ClusterPools;
  clusterUpgrades: ClusterUpgrades;
  clusterCredentials: ClusterCredentials;
}

export function clusterRoutes(app: Api, dialect: Dialect, deps: ClusterRouteDependencies): void {
  for (const { version, suffix } of VERSIONS) {
    const base = `/cloud/${version}/k8s/clusters/:project_id/:region_id`;
    changingRoutes(app, dialect, deps, base, suffix);
    readingRoutes(app, deps, base, suffix);
    poolRoutes(app, dialect, deps, base, suffix);
    upgradeRoutes(app, dialect, deps, base, suffix);
    credentialRoutes(app, deps, base, suffix);
  }
}

function changingRoutes(
  app: Api,
  dialect: Dialect,
  { projects, clusters }: ClusterRouteDependencies,
  base: string,
  suffix: string,
): void {
  app.post(base, {
    config: { access: 'operate' },
    schema: {
      operationId: `createKubernetesCluster${suffix}`,
      summary: 'Create a Kubernetes cluster',
      description:
        'Starts one task. The cluster can be read at once, as Provisioning; a creation that fails leaves nothing behind.',
      tags,
      params: ProjectRegionParams,
      body: CreateCluster,
      response: { 200: dialect.tasksSchema },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      return dialect.tasks([await clusters.create(scope, request.body)]);
    },
  });

  app.patch(`${base}/:cluster_name`, {
    config: { access: 'operate' },
    schema: {
      operationId: `updateKubernetesCluster${suffix}`,
      summary: 'Update a Kubernetes cluster',
      description:
        'Changes up to six groups of settings with one task. Everything is checked before the task starts; an update that changes nothing starts none. The cluster shows the new settings when the task has FINISHED, and keeps the old ones when it ends in ERROR. Refused with 409 while another task holds the cluster. On simulated infrastructure, applying logging to the topic `simulate-failure` always fails, which ends the task in ERROR.',
      tags,
      params: ClusterParams,
      body: ClusterUpdate,
      response: { 200: dialect.tasksSchema },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      return dialect.tasks(await clusters.update(scope, request.params.cluster_name, request.body));
    },
  });

  app.delete(`${base}/:cluster_name`, {
    config: { access: 'operate' },
    schema: {
      operationId: `deleteKubernetesCluster${suffix}`,
      summary: 'Delete a Kubernetes cluster',
      description: 'Starts one task. Refused with 409 while another task holds the cluster.',
      tags,
      params: ClusterParams,
      querystring: DeleteClusterQuery,
      response: { 200: dialect.tasksSchema },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      const volumes = request.query.volumes ? request.query.volumes.split(',') : [];
      return dialect.tasks([await clusters.delete(scope, request.params.cluster_name, volumes)]);
    },
  });
}

function readingRoutes(
  app: Api,
  { projects, clusters }: ClusterRouteDependencies,
  base: string,
  suffix: string,
): void {
  app.get(base, {
    config: { access: 'read' },
    schema: {
      operationId: `listKubernetesClusters${suffix}`,
      summary: 'List Kubernetes clusters',
      description: 'Newest first.',
      tags,
      params: ProjectRegionParams,
      querystring: ClusterListQuery,
      response: { 200: ClusterList },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      const { limit = 1000, offset = 0 } = request.query;
      const { count, rows } = await clusters.list(scope, { limit, offset });
      return { count, results: rows.map(presentedCluster) };
    },
  });

  app.get(`${base}/:cluster_name`, {
    config: { access: 'read' },
    schema: {
      operationId: `getKubernetesCluster${suffix}`,
      summary: 'Get a Kubernetes cluster',
      tags,
      params: ClusterParams,
      response: { 200: ClusterAnswer },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      return presentedCluster(await clusters.get(scope, request.params.cluster_name));
    },
  });
}
