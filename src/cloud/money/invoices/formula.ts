import { Decimal } from 'decimal.js';
import type { TaxSum } from '../../../db/json-columns.ts';

// Has so many digits that nothing is rounded except to cents.
export const Exact = Decimal.clone({ precision: 60, rounding: Decimal.ROUND_HALF_UP });

const CENTS = 2;
const SMALLEST = new Exact('0.01');

export const cents = (amount: Decimal): Decimal => amount.toDecimalPlaces(CENTS);
/** As the database and JSON columns have it. */
export const text = (amount: Decimal): string => amount.toFixed(CENTS);
export const sum = (amounts: readonly Decimal.Value[]): Decimal =>
  amounts.reduce((total: Decimal, one) => total.plus(one), new Exact(0));

/**
 * Rounds amounts to cents so that they add up to their rounded sum: each is rounded down, and the cents that are missing
 * go to those that lost most, the first of them if they lost the same.
 */
export function roundedTogether(exact: readonly Decimal[]): Decimal[] {
  const down = exact.map((one) => one.toDecimalPlaces(CENTS, Decimal.ROUND_DOWN));
  const missing = cents(sum(exact)).minus(sum(down)).div(SMALLEST).toNumber();
  const lost = exact.map((one, index) => ({ index, by: one.minus(down[index] ?? 0) }));
  const first = lost.sort((a, b) => b.by.cmp(a.by) || a.index - b.index).slice(0, missing);
  const raised = new Set(first.map(({ index }) => index));
  return down.map((one, index) => (raised.has(index) ? one.plus(SMALLEST) : one));
}

/** Divides an amount in proportion to what is left of several, none of which gets more than that. */
export function divided(amount: Decimal, left: readonly Decimal[]): Decimal[] {
  const all = sum(left);
  return roundedTogether(left.map((one) => one.times(amount).div(all)));
}

interface Taxed {
  tax_percent: string;
  reverse_charge: boolean;
  amount: Decimal;
}

/**
 * Returns the sums of each rate of VAT, the highest first. The net is rounded, and the VAT is the rest. After `earlier` sums, the net
 * is what it is of all together, less theirs: so several make what one would.
 */
export function taxesOf(lines: readonly Taxed[], earlier: readonly TaxSum[] = []): TaxSum[] {
  const rates = new Map<string, Taxed>();
  for (const { tax_percent, reverse_charge, amount } of lines) {
    const key = keyOf({ tax_percent, reverse_charge });
    const known = rates.get(key)?.amount ?? new Exact(0);
    rates.set(key, { tax_percent, reverse_charge, amount: known.plus(amount) });
  }
  return [...rates.values()]
    .filter(({ amount }) => amount.gt(0))
    .sort((a, b) => new Exact(b.tax_percent).cmp(a.tax_percent))
    .map(({ amount: gross, ...rate }) => {
      const before = earlier.filter((one) => keyOf(one) === keyOf(rate));
      const all = sum([gross, ...before.map((one) => one.gross)]);
      const netOfAll = cents(all.div(new Exact(rate.tax_percent).div(100).plus(1)));
      const net = netOfAll.minus(sum(before.map((one) => one.net)));
      return { ...rate, net: text(net), vat: text(gross.minus(net)), gross: text(gross) };
    });
}

const keyOf = ({ tax_percent, reverse_charge }: Omit<Taxed, 'amount'>) => `${tax_percent} ${reverse_charge}`;

export const totalsOf = (taxes: readonly TaxSum[]) => ({
  net: text(sum(taxes.map(({ net }) => net))),
  vat: text(sum(taxes.map(({ vat }) => vat))),
  gross: text(sum(taxes.map(({ gross }) => gross))),
});
