import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { ProjectRegionParams } from '../../../../lib/wire.ts';
import type { Platform } from '../../../../platform.ts';
import { presentedExceeded } from '../../../ground/quotas/schema.ts';
import type { ClusterBase } from '../params.ts';
import { CheckClusterLimits, CheckPoolLimits, ExceededClusterQuotas } from './schema.ts';
import { limitsOfCluster, limitsOfPool } from './service.ts';

const tags = ['Kubernetes clusters'];

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
