import { Type } from 'typebox';
import type { Dialect } from '../../../../http/dialect.ts';
import type { Api } from '../../../../http/server.ts';
import { pageOf } from '../../../../lib/page.ts';
import type { Platform } from '../../../../platform.ts';
import {
  KubernetesVersionList,
  presentKubernetesVersion,
} from '../../../ground/catalog/kubernetes-schema.ts';
import type { ClusterBase } from '../params.ts';
import { ClusterListQuery, ClusterParams, VersionInput } from '../schema.ts';
import { clusterVersions, upgradeCluster } from './service.ts';

const tags = ['Kubernetes clusters'];

const UpgradeCluster = Type.Object(
  { version: VersionInput },
  {
    title: 'UpgradeKubernetesCluster',
    additionalProperties: false,
    examples: [{ version: 'v1.33.9' }],
  },
);

/** Routes for upgrades of clusters, under the base path of one version. */
export function upgradeRoutes(app: Api, dialect: Dialect, on: Platform, base: ClusterBase): void {
  app.get(`${base.path}/:cluster_name/upgrade_versions`, {
    config: { access: 'read' },
    schema: {
      operationId: `listKubernetesUpgradeVersions${base.suffix}`,
      summary: 'List available upgrade versions of a Kubernetes cluster',
      description:
        'Oldest first. Lists newer patches of the current minor version, and versions of the next one. While Slurm is enabled, only versions that it supports are listed.',
      tags,
      params: ClusterParams,
      querystring: ClusterListQuery,
      response: { 200: KubernetesVersionList },
    },
    handler: async ({ scope, params, query }) =>
      pageOf(await clusterVersions(on, scope, params.cluster_name), query, presentKubernetesVersion),
  });

  app.post(`${base.path}/:cluster_name/upgrade`, {
    config: { access: 'operate' },
    schema: {
      operationId: `upgradeKubernetesCluster${base.suffix}`,
      summary: 'Upgrade a Kubernetes cluster',
      description:
        "Starts one task. The cluster shows the new version when the task has finished; its settings don't change. Only one minor version at a time; downgrades are not possible. Returns 409 while a task holds the cluster, and for a version that an enabled Slurm doesn't support.",
      tags,
      params: ClusterParams,
      body: UpgradeCluster,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await upgradeCluster(on, scope, params.cluster_name, body.version)]),
  });
}
