import type { CurrencyCode, PriceTerms } from '../catalog/catalog.ts';
import { volumePrice } from './formula.ts';

/** The price of what a list offers. */
export interface OfferPrice {
  currency_code: CurrencyCode | null;
  price_per_hour: number | null;
  price_per_month: number | null;
  price_status: 'error' | 'hide' | 'show' | null;
}

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
