import type { Api } from '../../../http/server.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { ClusterParams } from '../../kubernetes/clusters/schema.ts';
import { priceOfCluster, priceOfNewCluster } from './cluster-prices.ts';
import { clusterPriceRequestSchema, clusterPriceSchema } from './cluster-schema.ts';

const BASE = '/cloud/v2/pricing/:project_id/:region_id/k8s/clusters';

export function clusterPriceRoutes(app: Api, on: Platform): void {
  app.post(BASE, {
    config: { access: 'read', onlyAsks: true },
    schema: {
      operationId: 'previewKubernetesPrice',
      summary: 'Preview the price of a Kubernetes cluster',
      description:
        'Returns the price of its nodes after discount, including tax. Nothing is created. A month has 720 hours.',
      tags: ['Pricing'],
      params: ProjectRegionParams,
      body: clusterPriceRequestSchema,
      response: { 200: clusterPriceSchema },
    },
    handler: async ({ scope, body }) => priceOfNewCluster(on, scope, body),
  });

  app.get(`${BASE}/:cluster_name`, {
    config: { access: 'read' },
    schema: {
      operationId: 'getKubernetesPrice',
      summary: 'Get the price of a Kubernetes cluster',
      description: 'Returns the price of its current nodes.',
      tags: ['Pricing'],
      params: ClusterParams,
      response: { 200: clusterPriceSchema },
    },
    handler: async ({ scope, params }) => priceOfCluster(on, scope, params.cluster_name),
  });
}
