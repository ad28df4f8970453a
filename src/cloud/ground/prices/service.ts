import type { OfferPrice } from '../catalog/price-schema.ts';
import { type Image, priced } from '../catalog/service.ts';
import type { Scope } from '../projects/service.ts';
import { offerPrice } from './offers.ts';
import type { Rates } from './rates.ts';

export type { ClientPrices } from './client-prices.ts';
export { createRates, type DatedPrices, type Rates } from './rates.ts';

export interface OfferPrices {
  /** Returns the price of a machine of the flavor. */
  flavor(flavorId: string): OfferPrice;
  /** Returns the price for the use of an image's operating system. */
  image(osType: Image['os_type']): OfferPrice;
}

/** Returns what the offers of the scope's region cost its account now; undefined if nobody `asked`. */
export type OffersAsked = (scope: Scope, asked: boolean | undefined) => Promise<OfferPrices | undefined>;

export function createOfferPrices({ rates }: { rates: Pick<Rates, 'of'> }): OffersAsked {
  return async ({ clientId, regionId }, asked) => {
    if (!asked) return undefined;
    const prices = await rates.of(clientId);
    return {
      flavor: (id) => offerPrice(prices.terms, prices.hourPrice(regionId, priced.flavor(id))),
      image: (osType) => offerPrice(prices.terms, prices.hourPrice(regionId, priced.image(osType))),
    };
  };
}
