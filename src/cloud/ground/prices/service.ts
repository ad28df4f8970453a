import type { Platform, Scope } from '../../../platform.ts';
import type { OfferPrice } from '../catalog/schema.ts';
import { type Image, type PriceTerms, priced } from '../catalog/service.ts';
import { volumePrice } from './formula.ts';

/**
 * Returns the book's hourly price as the client pays it, by the formula for volumes. A client on trial sees prices of
 * 0, even where the book has none.
 */
export function offerPrice(terms: PriceTerms, pricePerHour: string | undefined): OfferPrice {
  const { currency_code, price_per_hour, price_per_month, price_status } = volumePrice(
    terms,
    terms.trial ? '0' : pricePerHour,
    1,
  );
  return { currency_code, price_per_hour, price_per_month, price_status };
}

export type { ClientPrices } from './client-prices.ts';
export type { DatedPrices, PriceKind, Rates } from './rates.ts';

export interface OfferPrices {
  flavor(flavorId: string): OfferPrice;
  /** Returns the price for the use of an image's operating system. */
  image(osType: Image['os_type']): OfferPrice;
}

/** Returns what the offers of the scope's region cost its account now; undefined if nobody `asked`. */
export async function offerPrices(
  on: Platform,
  { clientId, regionId }: Scope,
  asked: boolean | undefined,
): Promise<OfferPrices | undefined> {
  if (!asked) return undefined;
  const prices = await on.rates.of(clientId);
  return {
    flavor: (id) => offerPrice(prices.terms, prices.hourPrice(regionId, priced.flavor(id))),
    image: (osType) => offerPrice(prices.terms, prices.hourPrice(regionId, priced.image(osType))),
  };
}
