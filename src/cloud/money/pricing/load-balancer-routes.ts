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
  app.post('/cloud/v1/pricing/:project_id/:region_id/loadbalancers', {
    config: { access: 'read', onlyAsks: true },
    schema: {
      operationId: 'previewLoadBalancerFlavorPrice',
      summary: 'Preview the price of a load balancer without its addresses',
      deprecated: true,
      tags,
      params: ProjectRegionParams,
      body: LoadBalancerFlavorPriceRequest,
      response: { 200: priceSchema },
    },
    handler: async ({ scope, body }) => priceOfLoadBalancerFlavor(on, scope, body.flavor),
  });

  app.post('/cloud/v2/pricing/:project_id/:region_id/loadbalancers', {
    config: { access: 'read', onlyAsks: true },
    schema: {
      operationId: 'previewLoadBalancerPrice',
      summary: 'Preview the price of a load balancer',
      description:
        'Returns the price after discount, including tax, by part and in total. Public IPv4 addresses and new floating IPs cost something, IPv6 addresses nothing. Nothing is created.',
      tags,
      params: ProjectRegionParams,
      body: LoadBalancerPriceRequest,
      response: { 200: LoadBalancerPrice },
    },
    handler: async ({ scope, body }) => priceOfNewLoadBalancer(on, scope, body),
  });
}
