import { Type } from 'typebox';
import { listOf, listQuery, Named, Query } from '../../../../lib/wire.ts';
import { priceFields } from '../../../ground/catalog/price-schema.ts';
import { lbFlavorFields } from '../schema.ts';

export const LbFlavorListQuery = Query({
  ...listQuery(),
  include_prices: Type.Optional(Type.Boolean({ default: false, description: 'Include prices' })),
});

export const LbFlavorList = listOf(
  Named('LoadBalancerFlavor', {
    ...lbFlavorFields,
    // Only on request.
    ...Type.Partial(Type.Object(priceFields)).properties,
  }),
  'LoadBalancerFlavorList',
);
