import { isoSeconds } from '../../../../lib/timestamps.ts';
import type { PriceBook } from '../../catalog/service.ts';
import type { ClientPrices } from '../client-prices.ts';
import { volumePrice } from '../formula.ts';
import type { PriceList, Prices } from './schema.ts';
import type { PriceListRow } from './store.ts';

export function presentedList({ valid_from, created_at, terms, ...row }: PriceListRow): PriceList {
  return { ...row, valid_from: isoSeconds(valid_from), ...terms, created_at: isoSeconds(created_at) };
}

/** Presents what an account pays; without amounts for those from whom they are hidden. */
export function presentedPrices(
  clientId: number,
  at: Date,
  prices: ClientPrices,
  items: ReturnType<PriceBook['pricedItems']>,
): Prices {
  const { terms, lists } = prices;
  return {
    client_id: clientId,
    at: isoSeconds(at),
    currency: terms.currency,
    discount_percent: percentOf(terms.discount),
    tax_percent: Number(terms.taxPercent),
    visible: terms.visibility === 'show',
    trial: terms.trial,
    price_lists: lists.map(({ id }) => id),
    prices: items.flatMap(({ regionId, item }) => {
      const { hour, listId } = prices.sourced(regionId, item);
      const paid = volumePrice({ ...terms, visibility: 'show' }, hour, 1);
      if (hour === undefined || paid.price_per_hour === null || paid.price_per_month === null) return [];
      return {
        region_id: regionId,
        item,
        listed_per_hour: Number(hour),
        per_hour: paid.price_per_hour,
        per_month: paid.price_per_month,
        price_list_id: listId,
      };
    }),
  };
}

/** Not by binary fractions: 0.07 is 7 %, and not a bit more. */
function percentOf(fraction: string): number {
  return Number(`${fraction}e2`);
}
