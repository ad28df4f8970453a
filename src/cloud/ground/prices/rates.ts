import { type ChangeFeed, createRowCache, type RowCache } from '../../../db/changes.ts';
import type { Database, Sql } from '../../../db/database.ts';
import type { BillingProfile, IssuerSettings, ListTerms } from '../../../db/json-columns.ts';
import { findClient } from '../../../iam/accounts/service.ts';
import { grouped } from '../../../lib/lists.ts';
import type { Clock } from '../../../lib/time.ts';
import {
  type Catalog,
  type CurrencyCode,
  type DatedPriceBook,
  priceBooksBetween,
  priced,
  pricedPer,
} from '../catalog/service.ts';
import type { Holder } from '../dated-lists/in-transaction.ts';
import { type ClientPrices, clientPrices, type PriceList, priceList, vatOf } from './client-prices.ts';
import type { PriceListRow } from './lists/store.ts';
import * as store from './lists/store.ts';
import { type Dated, PLATFORM, partiesBetween, partyOf } from './parties/in-transaction.ts';

/** Whether the region has something that may have a price. */
export function isOffered(
  { regions, flavor, hasPrice }: Pick<Catalog, 'regions' | 'flavor' | 'hasPrice'>,
  regionId: number,
  item: string,
): boolean {
  const region = regions.get(regionId);
  if (!region) return false;
  const [volume, share, machine] = [priced.volume(''), priced.fileShare(''), priced.flavor('')];
  const has = (offered: readonly string[], prefix: string) => offered.includes(item.slice(prefix.length));
  if (item.startsWith(volume)) return !region.available_volume_types || has(region.available_volume_types, volume);
  if (item.startsWith(share)) return has(region.file_share_types ?? [], share);
  if (item.startsWith(machine)) return flavor(regionId, item.slice(machine.length)) !== undefined;
  // Traffic is metered where the catalogue prices it.
  return pricedPer(item) === 'hour' || hasPrice(regionId, item);
}

/** Prices that take as much memory as a usual row of a cache. */
const PRICES_OF_A_ROW = 10;

/** The topics on which changes of price lists are announced, by whom they are for. */
export const PRICE_TOPICS = {
  everyone: 'prices of everyone',
  reseller: 'prices of reseller',
  client: 'prices of client',
} as const;
/** The key of what everybody has. */
export const EVERYONE = 0;

/** What an account pays, or what its reseller owes for it, and since when. It holds until the next one does. */
export interface DatedPrices {
  from: Date;
  prices: ClientPrices;
  /** Whom the account pays, and who owes the wholesale. */
  resellerId: number | undefined;
}
export type PriceKind = PriceListRow['price'];

/** What a list would make of the prices of an account, beside the least that its reseller may ask for. */
interface Outlook {
  retail: ClientPrices;
  /** In the currency of the retail. */
  wholesale: ClientPrices;
  floorPercent: number | undefined;
}

/** What accounts pay, by price lists and catalogue. */
export interface Rates {
  /** Returns what the account pays now. Seldom asks the database. */
  of(clientId: number): Promise<ClientPrices>;
  /**
   * In a transaction, `db` is its connection. Returns what each of the accounts paid in that time, or what its reseller owed for it, the oldest first; the first one
   * holds from the beginning of the time. Empty without a price book.
   */
  between(
    clientIds: readonly number[],
    from: Date,
    to: Date,
    price?: PriceKind,
    db?: Sql,
  ): Promise<Map<number, DatedPrices[]>>;
  /** Returns what the account would pay from that time on by a list of its own; undefined without a price book. */
  withList(db: Sql, clientId: number, at: Date, terms: ListTerms): Promise<Outlook | undefined>;
  /** Drops what this process knows for these. Call it after the commit, besides announcing it. */
  forget(holder: Holder): void;
}

/** The lists for one of the scopes, from the one in force on. */
interface Known<Party> {
  since: Date;
  lists: readonly PriceList[];
  /** Who issues the invoices, or who gets them. */
  party?: Party | undefined;
}

export function createRates(deps: { database: Database; changes: ChangeFeed; catalog: Catalog; clock: Clock }): Rates {
  const { database, changes, catalog, clock } = deps;

  const offered = (regionId: number, item: string) => isOffered(catalog, regionId, item);

  async function knownOf(holder: Holder) {
    const since = clock.now();
    const lists = await store.listsSince(database.sql, holder, since);
    return { since, lists: lists.map(priceList) };
  }
  const bounded = {
    weigh: ({ lists }: Known<unknown>) =>
      1 + lists.reduce((sum, { hours }) => sum + Math.ceil(hours.size / PRICES_OF_A_ROW), 0),
  };
  const caches = {
    everyone: createRowCache(
      changes,
      PRICE_TOPICS.everyone,
      () => knownOf({ scope: 'everyone', reseller_id: null, client_id: null }),
      bounded,
    ),
    reseller: createRowCache(
      changes,
      PRICE_TOPICS.reseller,
      async (id) => ({
        ...(await knownOf({ scope: 'reseller', reseller_id: id, client_id: null })),
        party: (await partyOf(database.sql, 'issuer', id))?.about,
      }),
      bounded,
    ),
    client: createRowCache(
      changes,
      PRICE_TOPICS.client,
      async (id) => {
        const client = await findClient(database.sql, id);
        const known = await knownOf({ scope: 'client', reseller_id: null, client_id: id });
        const profile = await partyOf(database.sql, 'profile', id);
        return { ...known, party: profile?.about, resellerId: client?.resellerId };
      },
      bounded,
    ),
  };

  /** Asks again if the clock has gone back: only what holds from then on is known. */
  async function known<Row extends Known<unknown>>(cache: RowCache<Row>, key: number): Promise<Row | undefined> {
    const row = await cache.get(key);
    if (!row || clock.now() >= row.since) return row;
    cache.forget(key);
    return cache.get(key);
  }

  return {
    async of(clientId) {
      const client = await known(caches.client, clientId);
      const reseller = client?.resellerId === undefined ? undefined : await known(caches.reseller, client.resellerId);
      const everyone = await known(caches.everyone, EVERYONE);
      const now = clock.now();
      const lists = [client, reseller, everyone].flatMap((one) => lastBegun(one?.lists ?? [], now));
      const vat = vatOf(reseller?.party, client?.party);
      return clientPrices(catalog, clientId, { lists, vat }, now, offered);
    },

    between: (clientIds, from, to, price = 'retail', db = database.sql) =>
      pricesBetween(db, clientIds, from, to, price),

    withList: pricesWith,

    forget({ scope, reseller_id, client_id }) {
      caches[scope].forget(client_id ?? reseller_id ?? EVERYONE);
    },
  };
}

function lastBegun<List extends { from: Date }>(lists: readonly List[], at: Date): List[] {
  const last = lists.findLast(({ from }) => from <= at);
  return last ? [last] : [];
}

type TypedList = PriceList & Holder & { price: PriceKind };

/** What prices of clients are made of, for some time. */
interface Sources {
  books: readonly DatedPriceBook[];
  lists: readonly TypedList[];
  resellers: readonly store.TimedReseller[];
  issuers: readonly Dated<IssuerSettings>[];
  profiles: readonly Dated<BillingProfile>[];
}

/** Returns what is known of the clients, for each of them. */
async function sourcesOf(db: Sql, clientIds: readonly number[], from: Date, to: Date) {
  const books = await priceBooksBetween(db, from, to);
  const rows = await store.listsOfClientsBetween(db, clientIds, from, to);
  const lists = rows.map((row) => ({ ...row, ...priceList(row) }));
  const resellers = await store.resellersOf(db, clientIds);
  const issuerIds = [PLATFORM, ...new Set(resellers.map((one) => one.reseller_id))];
  const issuers = await partiesBetween(db, 'issuer', issuerIds, from, to);
  const profiles = grouped(await partiesBetween(db, 'profile', clientIds, from, to), (one) => one.of);
  const resellersOf = grouped(resellers, (one) => one.client_id);
  return (id: number): Sources => ({
    books,
    lists,
    issuers,
    resellers: resellersOf.get(id) ?? [],
    profiles: profiles.get(id) ?? [],
  });
}

async function pricesBetween(db: Sql, clientIds: readonly number[], from: Date, to: Date, price: PriceKind) {
  const sources = await sourcesOf(db, clientIds, from, to);
  return new Map(clientIds.map((id) => [id, datedPrices(id, sources(id), from, to, price)]));
}

async function pricesWith(db: Sql, clientId: number, at: Date, terms: ListTerms): Promise<Outlook | undefined> {
  const known = (await sourcesOf(db, [clientId], at, new Date(at.getTime() + 1)))(clientId);
  const own = { scope: 'client', reseller_id: null, client_id: clientId, price: 'retail' } as const;
  const next = { ...own, ...priceList({ id: Number.MAX_SAFE_INTEGER, from: at, terms }) };
  const retail = pricesAt(clientId, { ...known, lists: [...known.lists, next] }, at, 'retail');
  const { currency } = retail?.prices.terms ?? {};
  const wholesale = pricesAt(clientId, known, at, 'wholesale', currency);
  if (!retail || !wholesale) return undefined;
  const floor = wholesale.prices.lists.find((list) => list.terms.floor_percent !== undefined);
  return { retail: retail.prices, wholesale: wholesale.prices, floorPercent: floor?.terms.floor_percent };
}

/** Returns the prices of one client from each time on at which they may have changed. */
function datedPrices(clientId: number, known: Sources, from: Date, to: Date, price: PriceKind): DatedPrices[] {
  const { books, lists, resellers, issuers, profiles } = known;
  const starts = [...books.slice(1), ...lists, ...issuers, ...profiles].map((one) => one.from);
  const later = [...starts, ...resellers.flatMap(({ until }) => until ?? [])]
    .filter((start) => start > from && start < to)
    .map((start) => start.getTime());
  return [...new Set([from.getTime(), ...later])]
    .sort((a, b) => a - b)
    .flatMap((time) => pricesAt(clientId, known, new Date(time), price) ?? []);
}

/** Returns the prices of one client at a time; undefined without a price book. */
function pricesAt(
  clientId: number,
  { books, lists, resellers, issuers, profiles }: Sources,
  at: Date,
  price: PriceKind,
  currency?: CurrencyCode,
): DatedPrices | undefined {
  const { book } = books.findLast((one) => one.from <= at) ?? books[0] ?? {};
  if (!book) return undefined;
  const resellerId = resellers.find(({ until }) => until === null || until > at)?.reseller_id;
  const last = (is: (list: Holder) => boolean) =>
    lastBegun(
      lists.filter((list) => list.price === price && is(list)),
      at,
    );
  const inForce = [
    ...last(({ client_id }) => client_id === clientId),
    ...last(({ reseller_id }) => resellerId !== undefined && reseller_id === resellerId),
    ...last(({ scope }) => scope === 'everyone'),
  ];
  const issuer = (id: number | undefined) =>
    lastBegun(
      issuers.filter((one) => one.of === id),
      at,
    )[0]?.about;
  const customer = price === 'retail' ? lastBegun(profiles, at)[0]?.about : issuer(resellerId);
  const vat = vatOf(issuer(price === 'retail' ? resellerId : PLATFORM), customer);
  const inCurrency = currency && { ...priceList({ id: 0, from: at, terms: { currency } }) };
  const used = inCurrency ? [inCurrency, ...inForce] : inForce;
  const prices = clientPrices(book, clientId, { lists: used, vat }, at, () => true);
  // Nobody hides from a reseller what it owes.
  const terms = price === 'retail' ? prices.terms : { ...prices.terms, visibility: 'show' as const };
  return { from: at, prices: { ...prices, terms }, resellerId };
}
