import { Type } from 'typebox';
import { nullable } from '../../../lib/nullable.ts';
import { CurrencyCode } from './schema.ts';

/** Price fields of flavors and images. */
export const priceFields = {
  currency_code: nullable(CurrencyCode),
  price_per_hour: nullable(
    Type.Number({ description: 'Price after discount, including tax; null unless price_status is `show`' }),
  ),
  price_per_month: nullable(Type.Number({ description: 'Price of a month of 720 hours' })),
  price_status: nullable(
    Type.Enum(['error', 'hide', 'show'], { type: 'string', description: 'What to display as the price' }),
  ),
};

export const NO_PRICE_ASKED = {
  currency_code: null,
  price_per_hour: null,
  price_per_month: null,
  price_status: null,
};

/** The price of an offer in a list. */
export interface OfferPrice {
  currency_code: CurrencyCode | null;
  price_per_hour: number | null;
  price_per_month: number | null;
  price_status: 'error' | 'hide' | 'show' | null;
}
