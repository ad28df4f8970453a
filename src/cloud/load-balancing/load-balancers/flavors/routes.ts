import { Type } from 'typebox';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { pageOf } from '../../../../lib/page.ts';
import { listOf, listQuery, Named, OptionalFlag, ProjectRegionParams, Query } from '../../../../lib/wire.ts';
import type { Platform } from '../../../../platform.ts';
import { priceFields } from '../../../ground/catalog/schema.ts';
import { offerPrices } from '../../../ground/prices/service.ts';
import { presentedFlavor } from '../presenter.ts';
import { lbFlavorFields } from '../schema.ts';
import { offeredFlavors } from './flavors.ts';

export const LbFlavorListQuery = Query({
  ...listQuery(),
  include_prices: OptionalFlag({ default: false, description: 'Include prices' }),
});

export const LbFlavorList = listOf(
  Named('LoadBalancerFlavor', {
    ...lbFlavorFields,
    // Only on request.
    ...Type.Partial(Type.Object(priceFields)).properties,
  }),
  'LoadBalancerFlavorList',
);

export function lbFlavorRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Load balancers'], params: ProjectRegionParams });

  api.get('/cloud/v1/lbflavors/:project_id/:region_id', 'listLoadBalancerFlavors', 'List load balancer flavors', {
    query: LbFlavorListQuery,
    answer: LbFlavorList,
    handler: async ({ scope, query }) => {
      const prices = await offerPrices(on, scope, query.include_prices);
      return pageOf(offeredFlavors(on.catalog, scope.regionId), query, (flavor) => ({
        ...presentedFlavor(flavor),
        ...prices?.flavor(flavor.flavor_id),
      }));
    },
  });
}
