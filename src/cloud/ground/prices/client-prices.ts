import { Decimal } from 'decimal.js';
import type { BillingProfile, IssuerSettings, ListedPrice, ListTerms } from '../../../db/json-columns.ts';
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

/** What an item costs an account for one hour, or of traffic for one GB, before discount and tax. */
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
  /** Whether the price book has a price for it in any currency. */
  isInBook(regionId: number, item: string): boolean;
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

function hourOf({ per_hour, per_month = 0, per_gb }: ListedPrice): string {
  const whole = per_gb ?? per_hour;
  return (whole === undefined ? new Precise(per_month).div(HOURS_PER_MONTH) : new Precise(whole)).toFixed();
}

/** The VAT of an account, by who it is and who issues its invoices. */
export interface Vat {
  percent: string;
  reverseCharge: boolean;
}

/**
 * Returns the VAT by the issuer's table; undefined if that has none for the country. Until the issuer has confirmed where a
 * customer is, it is at home.
 */
export function vatOf(
  issuer: IssuerSettings | undefined,
  customer: Pick<BillingProfile, 'vat'> | undefined,
): Vat | undefined {
  if (!issuer || !customer) return undefined;
  const { country, vat_id: vatId } = customer.vat ?? { country: issuer.country };
  const isForeign = country !== issuer.country;
  if (issuer.reverse_charge && isForeign && vatId !== undefined) return { percent: '0', reverseCharge: true };
  const rate = issuer.vat_rates.find((one) => one.country === country);
  return rate && { percent: new Precise(rate.percent).toFixed(), reverseCharge: false };
}

/**
 * Returns what the account pays by the lists in force, the narrowest first. Without a tax in them it is that of `vat`. What
 * nothing of that says is as in the catalogue. A price without a region holds where the item `isOffered`.
 */
export function clientPrices(
  book: PriceBook,
  clientId: number,
  { lists, vat }: { lists: readonly PriceList[]; vat: Vat | undefined },
  at: Date,
  isOffered: (regionId: number, item: string) => boolean,
): ClientPrices {
  const usual = book.clientTerms(clientId);
  const terms = lists.length === 0 && !vat ? usual : termsOf(usual, lists, vat, at);
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
  return {
    terms,
    lists,
    sourced,
    hourPrice: (regionId, item) => sourced(regionId, item).hour,
    isInBook: book.hasPrice,
  };
}

function termsOf(usual: PriceTerms, lists: readonly PriceList[], vat: Vat | undefined, at: Date): PriceTerms {
  const first = <Field extends keyof ListTerms>(field: Field): ListTerms[Field] | undefined =>
    lists.find(({ terms }) => terms[field] !== undefined)?.terms[field];
  const discount = first('discount_percent');
  const tax = first('tax_percent');
  const visible = first('visible');
  const trial = first('trial_until');
  return {
    currency: first('currency') ?? usual.currency,
    taxPercent: tax === undefined ? (vat?.percent ?? usual.taxPercent) : new Precise(tax).toFixed(),
    ...(tax === undefined && vat?.reverseCharge && { reverseCharge: true as const }),
    discount: discount === undefined ? usual.discount : new Precise(discount).div(100).toFixed(),
    visibility: visible === undefined ? usual.visibility : visible ? 'show' : 'hide',
    trial: trial === undefined ? usual.trial : at < new Date(trial),
  };
}
