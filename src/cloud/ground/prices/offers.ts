import type { OfferPrice } from '../catalog/price-schema.ts';
import type { PriceTerms } from '../catalog/service.ts';
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
