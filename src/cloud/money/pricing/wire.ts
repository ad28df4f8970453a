import type { Foundation } from '../../../foundation.ts';
import { createPriceLists } from '../../ground/prices/lists/service.ts';
import { createClusterPrices } from './cluster-prices.ts';
import { createInstancePrices } from './instance-prices.ts';
import { createItemPrices } from './item-prices.ts';
import { createLoadBalancerPrices } from './load-balancer-prices.ts';
import { createPricing } from './service.ts';

export function wirePricing(
  deps: Foundation &
    Parameters<typeof createPricing>[0] &
    Parameters<typeof createPriceLists>[0] &
    Parameters<typeof createClusterPrices>[0] &
    Parameters<typeof createLoadBalancerPrices>[0],
) {
  return {
    pricing: createPricing(deps),
    clusterPrices: createClusterPrices(deps),
    instancePrices: createInstancePrices(deps),
    itemPrices: createItemPrices(deps),
    priceLists: createPriceLists(deps),
    loadBalancerPrices: createLoadBalancerPrices(deps),
  };
}
