import { type Static, Type } from 'typebox';
import { isoSeconds } from '../../../../lib/time.ts';
import * as wire from '../../../../lib/wire.ts';
import { CurrencyCode } from '../../catalog/schema.ts';
import { type PriceBook, pricedPer } from '../../catalog/service.ts';
import { listFields, makingFields, newListFields, nextPage } from '../../dated-lists/schema.ts';
import type { ClientPrices } from '../client-prices.ts';
import { volumePrice } from '../formula.ts';
import type { PriceListRow } from './store.ts';

const { Array: List, Boolean: Flag, Number: Num, Optional, String: Text } = Type;

const Currency = (description: string) => ({ ...CurrencyCode, description });

const amount = { minimum: 0, maximum: 1_000_000_000 };

const price = {
  item: Text({
    pattern: '^[a-z0-9_]{1,50}(\\.[A-Za-z0-9_.-]{1,100})?$',
    rule: 'Must be a name of the price book, such as volume_types.standard.',
    description:
      'As in the price book: `volume_types.standard`, `file_share_types.vast`, `flavors.g1-standard-2-4`, `images.windows`, `public_ipv4`, `image_storage`, `log_storage`, `ddos_protection`, `egress_traffic.virtual`, `egress_traffic.baremetal`',
    examples: ['volume_types.standard'],
  }),
  region_id: Optional(wire.IntegerId('Region; in all of them if left out. A price of the region goes before it')),
  currency: Optional(Currency('That of the list if left out')),
  per_hour: Optional(
    Num({
      ...amount,
      description: 'Before discount and tax; of one GiB of what has a size',
      examples: [0.0001],
    }),
  ),
  per_month: Optional(Num({ ...amount, description: 'For 720 hours; instead of per_hour', examples: [0.072] })),
  per_gb: Optional(
    Num({ ...amount, description: 'Of traffic: for 1,000,000,000 bytes, before discount and tax', examples: [0.01] }),
  ),
};

const PRICES = ['retail', 'wholesale'] as const;
const PRICE = 'What accounts pay (`retail`, if left out), or what resellers owe the platform for them';
const terms = {
  currency: Optional(Currency('In which the accounts pay')),
  discount_percent: Optional(
    Num({ minimum: 0, maximum: 100, description: 'Percentage taken off: 16 is 16 %', examples: [16] }),
  ),
  tax_percent: Optional(Num({ minimum: 0, maximum: 100, description: 'Percentage added: 17 is 17 %', examples: [17] })),
  visible: wire.OptionalFlag({ description: 'Whether the accounts see prices' }),
  trial_until: Optional(
    wire.QueryTime('Until then, lists of flavors and images show prices of 0. A time that is over ends a trial'),
  ),
  floor_percent: Optional(
    Num({
      minimum: 0,
      maximum: 1_000,
      description:
        'Of wholesale: how many percent of it, before tax, a list that a reseller makes has to ask for at least',
      examples: [80],
    }),
  ),
  prices: wire.OptionalList(wire.Input('PriceListItem', price), { maxItems: 500, description: 'Prices of their own' }),
};

export const NewPriceList = wire.Input(
  'NewPriceList',
  {
    ...newListFields,
    price: wire.OptionalChoice(PRICES, { description: PRICE, examples: ['retail'] }),
    ...terms,
  },
  {
    scope: 'client',
    id: 1,
    discount_percent: 16,
    prices: [{ item: 'volume_types.standard', currency: 'EUR', per_hour: 0.0001 }],
  },
);
export type NewPriceList = Static<typeof NewPriceList>;

export const PriceList = wire.Named('PriceList', {
  ...listFields,
  price: wire.Choice(PRICES, PRICE),
  ...terms,
  trial_until: Optional(wire.Timestamp('Until then, lists of flavors and images show prices of 0')),
  prices: wire.OptionalList(wire.Named('ListedPrice', price)),
  ...makingFields,
});
export type PriceList = Static<typeof PriceList>;

export const PriceLists = wire.Named('PriceLists', {
  results: List(PriceList, { description: 'The latest first' }),
  ...nextPage,
});
export type PriceLists = Static<typeof PriceLists>;

export const PriceListParams = Type.Object({ price_list_id: wire.IntegerId('Price list ID') });

const ofTime = (description: string) => wire.nullable(Num({ description: `${description}. Null for traffic` }));
const ofTraffic = (description: string) =>
  wire.nullable(Num({ description: `${description}, for 1,000,000,000 bytes. Of traffic only` }));

export const PricesQuery = wire.Query({
  client_id: Optional(wire.IntegerId('The account; your own if left out')),
  at: Optional(wire.QueryTime('The prices of this time; those of now if left out')),
});
export type PricesQuery = Static<typeof PricesQuery>;

export const Prices = wire.Named('Prices', {
  client_id: Type.Integer({ description: 'The account that pays' }),
  at: wire.Timestamp('When these are its prices'),
  currency: CurrencyCode,
  discount_percent: Num({ description: 'Percentage taken off' }),
  tax_percent: Num({ description: 'Percentage added' }),
  visible: Flag({ description: 'Whether the account sees prices' }),
  trial: Flag({ description: 'Whether lists of flavors and images show prices of 0' }),
  price_lists: List(Type.Integer(), { description: 'Those in force, the narrowest first' }),
  prices: List(
    wire.Named('Price', {
      region_id: Type.Integer({ description: 'Region ID' }),
      item: Text({ description: 'Its name in the price book', examples: ['volume_types.standard'] }),
      listed_per_hour: ofTime('Before discount and tax'),
      per_hour: ofTime('After discount, with tax: what the account pays'),
      per_month: ofTime('For 720 hours'),
      listed_per_gb: ofTraffic('Before discount and tax'),
      per_gb: ofTraffic('After discount, with tax'),
      price_list_id: wire.IntegerOrNull({ description: 'Where it comes from; null for the catalogue' }),
    }),
    { description: 'Of what has a price; nothing if prices are hidden from the account, for its members' },
  ),
});
export type Prices = Static<typeof Prices>;

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
    // Not by binary fractions: 0.07 is 7 %, and not a bit more.
    discount_percent: Number(`${terms.discount}e2`),
    tax_percent: Number(terms.taxPercent),
    visible: terms.visibility === 'show',
    trial: terms.trial,
    price_lists: lists.map(({ id }) => id),
    prices: items.flatMap(({ regionId, item }) => {
      const { hour, listId } = prices.sourced(regionId, item);
      const paid = volumePrice({ ...terms, visibility: 'show' }, hour, 1);
      if (hour === undefined || paid.price_per_hour === null || paid.price_per_month === null) return [];
      const ofTime = {
        listed_per_hour: Number(hour),
        per_hour: paid.price_per_hour,
        per_month: paid.price_per_month,
        listed_per_gb: null,
        per_gb: null,
      };
      const ofTraffic = {
        listed_per_hour: null,
        per_hour: null,
        per_month: null,
        listed_per_gb: Number(hour),
        per_gb: paid.price_per_hour,
      };
      return {
        region_id: regionId,
        item,
        ...(pricedPer(item) === 'gb' ? ofTraffic : ofTime),
        price_list_id: listId,
      };
    }),
  };
}
