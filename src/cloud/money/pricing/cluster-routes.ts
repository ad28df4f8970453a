import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { ClusterParams } from '../../kubernetes/clusters/schema.ts';
import { priceOfCluster, priceOfNewCluster } from './cluster-prices.ts';
import { clusterPriceRequestSchema, clusterPriceSchema } from './cluster-schema.ts';

const BASE = '/cloud/v2/pricing/:project_id/:region_id/k8s/clusters';

export function clusterPriceRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Pricing'], params: ProjectRegionParams });

  api.post(BASE, 'previewKubernetesPrice', 'Preview the price of a Kubernetes cluster', {
    access: 'read',
    onlyAsks: true,
    description:
      'Returns the price of its nodes after discount, including tax. Nothing is created. A month has 720 hours.',
    body: clusterPriceRequestSchema,
    answer: clusterPriceSchema,
    handler: ({ scope, body }) => priceOfNewCluster(on, scope, body),
  });

  api.get(`${BASE}/:cluster_name`, 'getKubernetesPrice', 'Get the price of a Kubernetes cluster', {
    description: 'Returns the price of its current nodes.',
    params: ClusterParams,
    answer: clusterPriceSchema,
    handler: ({ scope, params }) => priceOfCluster(on, scope, params.cluster_name),
  });
}
