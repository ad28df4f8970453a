import type { Platform } from '../../../platform.ts';
import { priced } from '../../ground/catalog/service.ts';
import { sumOf, type VolumePrice, volumePrice } from '../../ground/prices/formula.ts';
import type { ClientPrices } from '../../ground/prices/service.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { requirePossibleLoadBalancer } from '../../load-balancing/load-balancers/service.ts';
import type { LoadBalancerPrice, LoadBalancerPriceRequest, PriceParts } from './load-balancer-schema.ts';

function priceOf(prices: ClientPrices, { regionId }: Scope, flavorId: string): VolumePrice {
  return volumePrice(prices.terms, prices.hourPrice(regionId, priced.flavor(flavorId)), 1);
}

/** Returns what a load balancer of the flavor costs, without its addresses. @throws InvalidError, ForbiddenError */
export async function priceOfLoadBalancerFlavor(
  on: Platform,
  scope: Scope,
  flavor: string,
): Promise<VolumePrice> {
  requirePossibleLoadBalancer(on, scope, { flavor });
  return priceOf(await on.rates.of(scope.clientId), scope, flavor);
}

/** Returns what it costs with its addresses, by part and in total. @throws InvalidError, ForbiddenError */
export async function priceOfNewLoadBalancer(
  on: Platform,
  scope: Scope,
  { flavor, floating_ip, ...given }: LoadBalancerPriceRequest,
): Promise<LoadBalancerPrice> {
  const vip = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  const { publicAddresses } = requirePossibleLoadBalancer(on, scope, { flavor, ...vip });
  const prices = await on.rates.of(scope.clientId);
  const { terms } = prices;
  const address = prices.hourPrice(scope.regionId, priced.publicAddress);
  const parts = {
    flavor: priceOf(prices, scope, flavor),
    external_ip: publicAddresses > 0 ? volumePrice(terms, address, publicAddresses) : undefined,
    floating_ip: floating_ip?.source === 'new' ? volumePrice(terms, address, 1) : undefined,
  };
  const total = sumOf(
    terms,
    Object.values(parts).flatMap((price) => price ?? []),
  );
  const each = (field: 'price_per_hour' | 'price_per_month'): PriceParts => ({
    flavor: parts.flavor[field],
    external_ip: parts.external_ip?.[field] ?? null,
    floating_ip: parts.floating_ip?.[field] ?? null,
  });
  return {
    currency_code: total.currency_code,
    discount_percent: total.discount_percent,
    price_status: total.price_status,
    tax_percent: total.tax_percent,
    per_hour: each('price_per_hour'),
    per_month: each('price_per_month'),
    total_price_per_hour: total.price_per_hour,
    total_price_per_month: total.price_per_month,
    price_without_discount_per_month: total.price_without_discount_per_month,
  };
}
