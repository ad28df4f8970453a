import type { OfferPrice } from '../catalog/price-schema.ts';
import type { PriceTerms } from '../catalog/service.ts';
import { volumePrice } from './formula.ts';

/**
 * An hour of the book's price as the client pays it, by the formula of volumes. While a client tries the platform
 * out, it sees that it pays nothing, also where the book has no price (contract 6.1).
 */
export function offerPrice(terms: PriceTerms, pricePerHour: string | undefined): OfferPrice {
  const { currency_code, price_per_hour, price_per_month, price_status } = volumePrice(
    terms,
    terms.trial ? '0' : pricePerHour,
    1,
  );
  return { currency_code, price_per_hour, price_per_month, price_status };
}
