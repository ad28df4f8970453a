import { sql } from 'kysely';
import { Value } from 'typebox/value';
import type { Sql, Transaction } from '../../../db/database.ts';
import { type CatalogContent, type CurrencyCode, catalogFiles, type Image } from './schema.ts';

/** What a client pays in addition to the price book. The rates are decimal texts. */
export interface PriceTerms {
  currency: CurrencyCode;
  /** Percentage: '17' adds 17 %. */
  taxPercent: string;
  /** Fraction: '0.16' takes off 16 %. */
  discount: string;
  visibility: 'show' | 'hide';
  /** Lists of flavors and images show prices of 0. */
  trial: boolean;
  /** The tax is 0 because the account owes it in its own country. */
  reverseCharge?: true;
}

/** Names of what has a price: as in `price-book.yaml`, joined by a point where there are several. */
export const priced = {
  volume: (typeName: string) => `volume_types.${typeName}`,
  fileShare: (typeName: string) => `file_share_types.${typeName}`,
  flavor: (flavorId: string) => `flavors.${flavorId}`,
  /** The use of an operating system. */
  image: (osType: Image['os_type']) => `images.${osType}`,
  publicAddress: 'public_ipv4',
  /** Keeping images that projects made. */
  imageStorage: 'image_storage',
  logStorage: 'log_storage',
  ddosProtection: 'ddos_protection',
  /** Of one GB, unlike all others. */
  egressTraffic: (by: 'virtual' | 'baremetal' | '') => `egress_traffic.${by}`,
};

/** What an item has a price for: an hour, or a GB of 1,000,000,000 bytes. */
export const pricedPer = (item: string): 'hour' | 'gb' => (item.startsWith(priced.egressTraffic('')) ? 'gb' : 'hour');

export interface PriceBook {
  /**
   * Returns what an item costs for one hour, before discount and tax, as a decimal text; undefined where the book has no
   * price. For things with a size it is the price of one GiB. For traffic it is the price of one GB, whatever the time.
   */
  hourPrice(regionId: number, item: string, currency: CurrencyCode): string | undefined;
  /** Whether the item has a price in any currency. */
  hasPrice(regionId: number, item: string): boolean;
  /** Returns the regions and names of everything that has a price in the currency. */
  pricedItems(currency: CurrencyCode): readonly { regionId: number; item: string }[];
  clientTerms(clientId: number): PriceTerms;
}

type Content = CatalogContent['price-book.yaml'];

/** Builds the look-ups for checked content. */
export function priceBookOf({ prices, default_terms: defaultTerms, clients }: Content): PriceBook {
  const lists = new Map(prices.map((list) => [`${list.region_id} ${list.currency}`, hourPrices(list)]));
  const priceable = new Set(
    prices.flatMap(({ region_id: id, currency }) =>
      [...(lists.get(`${id} ${currency}`)?.keys() ?? [])].map((item) => `${id} ${item}`),
    ),
  );
  const usual = termsOf(defaultTerms);
  const terms = new Map(clients.map(({ client_id: id, ...own }) => [id, termsOf({ ...defaultTerms, ...own })]));
  return {
    hourPrice: (regionId, item, currency) => lists.get(`${regionId} ${currency}`)?.get(item),
    hasPrice: (regionId, item) => priceable.has(`${regionId} ${item}`),
    pricedItems: (currency) =>
      prices
        .filter((list) => list.currency === currency)
        .flatMap(({ region_id: regionId }) =>
          [...(lists.get(`${regionId} ${currency}`)?.keys() ?? [])].map((item) => ({ regionId, item })),
        ),
    clientTerms: (clientId) => terms.get(clientId) ?? usual,
  };
}

function hourPrices({ region_id: _region, currency: _currency, ...list }: Content['prices'][number]) {
  return new Map(
    Object.entries(list).flatMap(([group, price]): [string, string][] =>
      typeof price === 'string'
        ? [[group, price]]
        : Object.entries(price).map(([name, one]) => [`${group}.${name}`, one]),
    ),
  );
}

function termsOf({ tax_percent: taxPercent, trial = false, ...rest }: Content['default_terms']): PriceTerms {
  return Object.freeze({ ...rest, taxPercent, trial });
}

const FILE = 'price-book.yaml';

/** A price book, and when it came into force. It holds until the next one does. */
export interface DatedPriceBook {
  from: Date;
  book: PriceBook;
}

/**
 * Keeps the price book of a catalogue that comes into force, unless it is the last one again. Books of a later time were
 * kept by a clock that was ahead: they are no longer in force.
 */
export async function recordPriceBook(tx: Transaction, catalogText: string, now: Date): Promise<void> {
  const book = JSON.stringify((JSON.parse(catalogText) as Record<string, unknown>)[FILE]);
  await sql`delete from price_books where valid_from > ${now}`.execute(tx.sql);
  await sql`
    insert into price_books (valid_from, book)
    select date_trunc('second', ${now}::timestamptz), ${book}::jsonb
    where ${book}::jsonb is distinct from (select book from price_books order by valid_from desc limit 1)
    on conflict (valid_from) do update set book = excluded.book`.execute(tx.sql);
}

/** Returns the price books that were in force in that time, oldest first. The first one also holds before itself. */
export async function priceBooksBetween(db: Sql, from: Date, to: Date): Promise<DatedPriceBook[]> {
  const rows = await db
    .selectFrom('price_books')
    .select(['valid_from', 'book'])
    .where('valid_from', '<', to)
    .where((row) =>
      row.or([
        row('valid_from', '>', from),
        row('valid_from', '=', (books) =>
          books
            .selectFrom('price_books')
            .select((of) => of.fn.max('valid_from').as('at'))
            .where('valid_from', '<=', from),
        ),
      ]),
    )
    .orderBy('valid_from')
    .execute();
  if (rows.length > 0) return rows.map(dated);
  const first = await db.selectFrom('price_books').selectAll().orderBy('valid_from').limit(1).execute();
  return first.map(dated);
}

/** Each release fills in the defaults of fields that a book doesn't have. */
function dated({ valid_from: from, book }: { valid_from: Date; book: object }): DatedPriceBook {
  const content = Value.Default(catalogFiles[FILE], book) as CatalogContent[typeof FILE];
  return { from, book: priceBookOf(content) };
}
