import { Decimal } from 'decimal.js';
import { type CurrencyCode, priced } from '../../ground/catalog/service.ts';
import { type VolumePrice, volumePrice } from '../../ground/prices/formula.ts';
import type { ClientPrices, DatedPrices } from '../../ground/prices/service.ts';
import type { UsedType } from './schema.ts';

export interface Use {
  type: UsedType;
  sku: string;
  amount: number;
  region_id: number;
}

const ITEMS: Record<UsedType, (sku: string) => string> = {
  baremetal: priced.flavor,
  egress_traffic: (sku) => priced.egressTraffic(sku === 'baremetal' ? sku : 'virtual'),
  external_ip: () => priced.publicAddress,
  file_share: priced.fileShare,
  floatingip: () => priced.publicAddress,
  image: () => priced.imageStorage,
  instance: priced.flavor,
  load_balancer: priced.flavor,
  log_index: () => priced.logStorage,
  snapshot: priced.volume,
  volume: priced.volume,
};

/** Returns what the account pays for using it: the same as the previews say. */
export function priceOfUse(prices: ClientPrices, { type, sku, amount, region_id }: Use): VolumePrice {
  return volumePrice(prices.terms, prices.hourPrice(region_id, ITEMS[type](sku)), amount);
}

/**
 * Whether it is traffic of a time when the price book had no price for it, in any currency. The row of a day holds some of
 * it when the price came during that day.
 */
const isFree = (prices: ClientPrices, { type, sku, region_id }: Omit<Use, 'amount'>): boolean =>
  type === 'egress_traffic' && !prices.isInBook(region_id, ITEMS[type](sku));

/** What one of the uses of a line costs in an hour, or a GB of it; null without a price. */
export interface PricedUse extends TimedUse {
  hour: number | null;
  resellerId: number;
  terms: ClientPrices['terms'];
}

/** Prices the uses of a line as they have to be paid, also by an account that may not see prices. */
export function pricedUses(dated: readonly DatedPrices[], line: Omit<Use, 'amount'> & { uses: readonly TimedUse[] }) {
  return line.uses.flatMap((use): PricedUse[] => {
    const { prices, resellerId } = dated[use.book] ?? {};
    if (!prices || resellerId === undefined || isFree(prices, line)) return [];
    const terms = { ...prices.terms, visibility: 'show' as const };
    const { price_per_hour: hour } = priceOfUse({ ...prices, terms }, { ...line, amount: use.amount });
    return [{ ...use, hour, resellerId, terms }];
  });
}

// Has so many digits that nothing is rounded except by the rounding below.
export const Exact = Decimal.clone({ precision: 60, rounding: Decimal.ROUND_HALF_EVEN });

/** How many of the units of a use cost its price: the seconds of an hour, or the bytes of a GB. */
export const unitsPerPrice = (type: UsedType): number => (type === 'egress_traffic' ? 1_000_000_000 : 3_600);
const SHOWN_DECIMALS = 5;
/** Of amounts in minutes, which seldom are whole. */
const UNIT_DECIMALS = 10;

/** How long an amount was used while the same prices were in force, or how much traffic there was. */
export interface TimedUse {
  /** The number of the prices, counted from 0. */
  book: number;
  amount: number;
  /** Seconds; of traffic, whose amount is 1, bytes. */
  units: number;
}

export interface Cost {
  cost: number | null;
  currency: CurrencyCode | null;
  err: string | null;
  price_status: 'error' | 'hide' | 'show';
}

/**
 * Returns what the uses cost together: for each, the price of an hour as the preview has it, times the hours, or that of a GB. It is
 * rounded once, at the end, to 5 decimals or, on request, not at all.
 */
export function costOf(
  dated: readonly DatedPrices[],
  what: Omit<Use, 'amount'>,
  uses: readonly TimedUse[],
  { rounding }: { rounding: boolean },
): Cost {
  let total = new Exact(0);
  const currencies = new Set<CurrencyCode>();
  for (const { book: number, amount, units } of uses) {
    const prices = dated[number]?.prices;
    if (!prices) return noCost('error', null, 'No price list was in force.');
    const price = priceOfUse(prices, { ...what, amount });
    if (price.currency_code) currencies.add(price.currency_code);
    if (price.price_status === 'hide') return noCost('hide', price.currency_code, null);
    if (isFree(prices, what)) continue;
    if (price.price_per_hour === null) {
      return noCost('error', price.currency_code, 'The price list of the region has no price for it.');
    }
    total = total.plus(new Exact(price.price_per_hour).times(units));
  }
  if (currencies.size > 1) {
    return noCost('error', null, 'The currency changed meanwhile; ask for the time before and after it.');
  }
  const cost = total.div(unitsPerPrice(what.type));
  const shown = rounding ? cost.toDecimalPlaces(SHOWN_DECIMALS) : cost;
  const [currency = null] = currencies;
  return { cost: shown.toNumber(), currency, err: null, price_status: 'show' };
}

function noCost(price_status: 'error' | 'hide', currency: CurrencyCode | null, err: string | null): Cost {
  return { cost: null, currency, err, price_status };
}

/** Returns seconds, multiplied by GiB for things with a size. For traffic, it returns bytes. */
export const quantityOf = (uses: readonly TimedUse[]): Decimal =>
  uses.reduce((sum, use) => sum.plus(new Exact(use.amount).times(use.units)), new Exact(0));

/** Returns minutes, multiplied by GiB for things with a size. For traffic, it returns bytes. */
export function billedValueOf(type: UsedType, uses: readonly TimedUse[]): number {
  const quantity = quantityOf(uses);
  return type === 'egress_traffic' ? quantity.toNumber() : quantity.div(60).toDecimalPlaces(UNIT_DECIMALS).toNumber();
}

export function statusOf(costs: readonly Pick<Cost, 'price_status'>[]): Cost['price_status'] {
  return costs.find(({ price_status }) => price_status !== 'show')?.price_status ?? 'show';
}
