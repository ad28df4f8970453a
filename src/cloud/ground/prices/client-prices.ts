import { Decimal } from 'decimal.js';
import type { ListedPrice, ListTerms } from '../../../db/json-columns.ts';
import type { CurrencyCode, PriceBook, PriceTerms } from '../catalog/service.ts';
import { HOURS_PER_MONTH } from './formula.ts';

// For prices of a month, which seldom are a decimal number for an hour.
const Precise = Decimal.clone({ precision: 30, rounding: Decimal.ROUND_HALF_EVEN });

/** A price list, ready for looking up. */
export interface PriceList {
  id: number;
  from: Date;
  terms: ListTerms;
  /** Decimal texts. */
  hours: ReadonlyMap<string, string>;
}

/** What an item costs an account for one hour, before discount and tax. */
export interface HourPrice {
  hour: string | undefined;
  /** The price list that says so; null for the catalogue. */
  listId: number | null;
}

/** What an account pays at one time. */
export interface ClientPrices {
  terms: PriceTerms;
  /** The price lists in force, the one of the account first. */
  lists: readonly PriceList[];
  /** Returns a decimal text; undefined without a price. Items are named by `priced`. */
  hourPrice(regionId: number, item: string): string | undefined;
  sourced(regionId: number, item: string): HourPrice;
}

const ANYWHERE = 0;
const keyOf = (regionId: number, currency: CurrencyCode, item: string) => `${regionId} ${currency} ${item}`;

export function priceList({ id, from, terms }: Omit<PriceList, 'hours'>): PriceList {
  const hours = new Map<string, string>();
  for (const price of terms.prices ?? []) {
    const currency = price.currency ?? terms.currency;
    if (currency) hours.set(keyOf(price.region_id ?? ANYWHERE, currency, price.item), hourOf(price));
  }
  return { id, from, terms, hours };
}

function hourOf({ per_hour, per_month = 0 }: ListedPrice): string {
  const hour = per_hour === undefined ? new Precise(per_month).div(HOURS_PER_MONTH) : new Precise(per_hour);
  return hour.toFixed();
}

/**
 * Returns what the account pays by the lists in force, the narrowest first. What none of them says is as in the
 * catalogue. A price without a region holds where the item `isOffered`.
 */
export function clientPrices(
  book: PriceBook,
  clientId: number,
  lists: readonly PriceList[],
  at: Date,
  isOffered: (regionId: number, item: string) => boolean,
): ClientPrices {
  const usual = book.clientTerms(clientId);
  const terms = lists.length === 0 ? usual : termsOf(usual, lists, at);
  const { currency } = terms;
  function sourced(regionId: number, item: string): HourPrice {
    for (const { id, hours } of lists) {
      const here = hours.get(keyOf(regionId, currency, item));
      if (here !== undefined) return { hour: here, listId: id };
      const anywhere = hours.get(keyOf(ANYWHERE, currency, item));
      if (anywhere !== undefined && isOffered(regionId, item)) return { hour: anywhere, listId: id };
    }
    return { hour: book.hourPrice(regionId, item, currency), listId: null };
  }
  return { terms, lists, sourced, hourPrice: (regionId, item) => sourced(regionId, item).hour };
}

function termsOf(usual: PriceTerms, lists: readonly PriceList[], at: Date): PriceTerms {
  const first = <Field extends keyof ListTerms>(field: Field): ListTerms[Field] | undefined =>
    lists.find(({ terms }) => terms[field] !== undefined)?.terms[field];
  const discount = first('discount_percent');
  const tax = first('tax_percent');
  const visible = first('visible');
  const trial = first('trial_until');
  return {
    currency: first('currency') ?? usual.currency,
    taxPercent: tax === undefined ? usual.taxPercent : new Precise(tax).toFixed(),
    discount: discount === undefined ? usual.discount : new Precise(discount).div(100).toFixed(),
    visibility: visible === undefined ? usual.visibility : visible ? 'show' : 'hide',
    trial: trial === undefined ? usual.trial : at < new Date(trial),
  };
}
