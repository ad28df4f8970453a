import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { priceOfLoadBalancerFlavor, priceOfNewLoadBalancer } from './load-balancer-prices.ts';
import {
  LoadBalancerFlavorPriceRequest,
  LoadBalancerPrice,
  LoadBalancerPriceRequest,
} from './load-balancer-schema.ts';
import { priceSchema } from './schema.ts';

const tags = ['Pricing'];

export function loadBalancerPriceRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, params: ProjectRegionParams, access: 'read' });

  api.post(
    '/cloud/v1/pricing/:project_id/:region_id/loadbalancers',
    'previewLoadBalancerFlavorPrice',
    'Preview the price of a load balancer without its addresses',
    {
      onlyAsks: true,
      deprecated: true,
      body: LoadBalancerFlavorPriceRequest,
      answer: priceSchema,
      handler: ({ scope, body }) => priceOfLoadBalancerFlavor(on, scope, body.flavor),
    },
  );

  api.post(
    '/cloud/v2/pricing/:project_id/:region_id/loadbalancers',
    'previewLoadBalancerPrice',
    'Preview the price of a load balancer',
    {
      onlyAsks: true,
      description:
        'Returns the price after discount, including tax, by part and in total. Public IPv4 addresses and new floating IPs cost something, IPv6 addresses nothing. Nothing is created.',
      body: LoadBalancerPriceRequest,
      answer: LoadBalancerPrice,
      handler: ({ scope, body }) => priceOfNewLoadBalancer(on, scope, body),
    },
  );
}
