import { Type } from 'typebox';
import { nullable } from '../../lib/nullable.ts';
import { CurrencyCode } from './schema.ts';

/** Prices as flavors and images carry them. The price book has none for these yet, which is `error`. */
export const priceFields = {
  currency_code: nullable(CurrencyCode),
  price_per_hour: nullable(Type.Number()),
  price_per_month: nullable(Type.Number({ description: 'A month is 720 hours' })),
  price_status: nullable(
    Type.Enum(['error', 'hide', 'show'], { type: 'string', description: 'What to show for the price' }),
  ),
};

const noAmounts = { currency_code: null, price_per_hour: null, price_per_month: null };
export const NO_PRICE_ASKED = { ...noAmounts, price_status: null };
export const NOT_IN_PRICE_BOOK = { ...noAmounts, price_status: 'error' } as const;
