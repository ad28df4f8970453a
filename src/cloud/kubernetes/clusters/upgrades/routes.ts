import type { Dialect } from '../../../../http/dialect.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { pageOf } from '../../../../lib/page.ts';
import { Input } from '../../../../lib/wire.ts';
import type { Platform } from '../../../../platform.ts';
import { KubernetesVersionList, presentKubernetesVersion } from '../../../ground/catalog/schema.ts';
import type { ClusterBase } from '../params.ts';
import { ClusterListQuery, ClusterParams, VersionInput } from '../schema.ts';
import { clusterVersions, upgradeCluster } from './service.ts';

const tags = ['Kubernetes clusters'];

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
