import { Decimal } from 'decimal.js';
import type { CurrencyCode, PriceTerms } from '../catalog/service.ts';

export interface VolumePrice {
  currency_code: CurrencyCode | null;
  discount_percent: number | null;
  price_per_hour: number | null;
  price_per_month: number | null;
  price_without_discount_per_month: number | null;
  price_status: 'error' | 'hide' | 'show';
  tax_percent: number;
}

/** A billing month is 30 days of 24 hours. */
export const HOURS_PER_MONTH = 720;
export const HOUR_DECIMALS = 10;

// Has so many digits that nothing is rounded except by the rounding below.
const Exact = Decimal.clone({ precision: 60, rounding: Decimal.ROUND_HALF_EVEN });

/**
 * Returns the price of a volume of `sizeGib` GiB as the client pays it.
 *
 *     hour                   = round(price per GiB-hour x size x (1 - discount) x (1 + tax / 100))
 *     month                  = 720 x hour
 *     month without discount = 720 x round(price per GiB-hour x size x (1 + tax / 100))
 *
 * The one rounding rule: an hour's price is rounded once, half to even, to 10 decimals, and a month is
 * exactly 720 such hours, so that nobody who multiplies gets another figure. With ten decimals, an hour of
 * the smallest volume is exact enough that its month is right to 0.0000001.
 *
 * Example: 100 GiB at 0.000137 EUR per GiB-hour, discount 0.16, tax 17 %. An hour costs 0.0137 in the book,
 * 0.011508 after the discount and 0.01346436 with tax. A month is 720 x 0.01346436 = 9.6943392; without the
 * discount, it is 720 x 0.016029 = 11.54088.
 *
 * If prices are hidden (`hide`) or the book has none (`error`), the amounts and the discount are null. `hide`
 * wins over `error`, or a client with hidden prices would learn what the book holds. Currency and tax belong
 * to the account and are always shown.
 */
export function volumePrice(terms: PriceTerms, pricePerGibHour: string | undefined, sizeGib: number): VolumePrice {
  const account = { currency_code: terms.currency, tax_percent: Number(terms.taxPercent) };
  if (terms.visibility === 'hide') return { price_status: 'hide', ...account, ...noAmounts };
  if (pricePerGibHour === undefined) return { price_status: 'error', ...account, ...noAmounts };

  const { withTax, discounted } = factorsOf(terms);
  const listHour = new Exact(pricePerGibHour).times(sizeGib).times(withTax);
  const hour = listHour.times(discounted).toDecimalPlaces(HOUR_DECIMALS);
  return {
    discount_percent: Number(terms.discount),
    ...account,
    price_per_hour: hour.toNumber(),
    price_per_month: hour.times(HOURS_PER_MONTH).toNumber(),
    price_without_discount_per_month: listHour.toDecimalPlaces(HOUR_DECIMALS).times(HOURS_PER_MONTH).toNumber(),
    price_status: 'show',
  };
}

// An account's terms stay the same for many prices, and dividing takes a third of the time of a price.
const factors = new WeakMap<PriceTerms, { withTax: Decimal; discounted: Decimal }>();

function factorsOf(terms: PriceTerms) {
  const known = factors.get(terms);
  if (known) return known;
  const made = {
    withTax: new Exact(terms.taxPercent).div(100).plus(1),
    discounted: new Exact(1).minus(terms.discount),
  };
  factors.set(terms, made);
  return made;
}

export function timesHour(hour: number, hours: number): number {
  return new Exact(hour).times(hours).toNumber();
}

/** Names the amounts of a whole price as those of its parts are not named. */
export const asTotal = ({ price_per_hour, price_per_month, ...price }: VolumePrice) => ({
  total_price_per_hour: price_per_hour,
  ...price,
  total_price_per_month: price_per_month,
});

/** Returns the sum of prices on the same terms. It has no amounts if one of the prices has none. */
export function sumOf(terms: PriceTerms, prices: readonly VolumePrice[]): VolumePrice {
  const account = { currency_code: terms.currency, tax_percent: Number(terms.taxPercent) };
  const unshown = prices.find(({ price_status }) => price_status !== 'show');
  if (unshown) return { price_status: unshown.price_status, ...account, ...noAmounts };
  const total = (field: 'price_per_hour' | 'price_per_month' | 'price_without_discount_per_month') =>
    prices.reduce((sum, price) => sum.plus(price[field] ?? 0), new Exact(0)).toNumber();
  return {
    discount_percent: Number(terms.discount),
    ...account,
    price_per_hour: total('price_per_hour'),
    price_per_month: total('price_per_month'),
    price_without_discount_per_month: total('price_without_discount_per_month'),
    price_status: 'show',
  };
}

const noAmounts = {
  discount_percent: null,
  price_per_hour: null,
  price_per_month: null,
  price_without_discount_per_month: null,
};
