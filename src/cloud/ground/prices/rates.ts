import { type ChangeFeed, createRowCache } from '../../../db/changes.ts';
import type { Database, Sql } from '../../../db/database.ts';
import { findClient } from '../../../iam/accounts/service.ts';
import { grouped } from '../../../lib/lists.ts';
import type { Clock } from '../../../lib/time.ts';
import { type Catalog, type DatedPriceBook, priceBooksBetween, priced } from '../catalog/service.ts';
import type { Holder } from '../dated-lists/in-transaction.ts';
import { type ClientPrices, clientPrices, type PriceList, priceList } from './client-prices.ts';
import * as store from './lists/store.ts';

/** Whether the region has something that may have a price. */
export function isOffered({ regions, flavor }: Pick<Catalog, 'regions' | 'flavor'>, regionId: number, item: string) {
  const region = regions.get(regionId);
  if (!region) return false;
  const [volume, share, machine] = [priced.volume(''), priced.fileShare(''), priced.flavor('')];
  const has = (offered: readonly string[], prefix: string) => offered.includes(item.slice(prefix.length));
  if (item.startsWith(volume)) return !region.available_volume_types || has(region.available_volume_types, volume);
  if (item.startsWith(share)) return has(region.file_share_types ?? [], share);
  if (item.startsWith(machine)) return flavor(regionId, item.slice(machine.length)) !== undefined;
  return true;
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

/** What an account pays, and since when. It holds until the next one does. */
export interface DatedPrices {
  from: Date;
  prices: ClientPrices;
}

/** What accounts pay, by price lists and catalogue. */
export interface Rates {
  /** Returns what the account pays now. Seldom asks the database. */
  of(clientId: number): Promise<ClientPrices>;
  /**
   * Returns what each of the accounts paid in that time, the oldest first; the first one holds from the beginning of the time.
   * Empty without a price book.
   */
  between(clientIds: readonly number[], from: Date, to: Date): Promise<Map<number, DatedPrices[]>>;
  /** Drops what this process knows of the lists for these. Call it after the commit, besides announcing it. */
  forget(holder: Holder): void;
}

/** The lists for one of the scopes, from the one in force on. */
interface Lists {
  since: Date;
  lists: readonly PriceList[];
}

export function createRates(deps: { database: Database; changes: ChangeFeed; catalog: Catalog; clock: Clock }): Rates {
  const { database, changes, catalog, clock } = deps;

  const offered = (regionId: number, item: string) => isOffered(catalog, regionId, item);

  async function knownOf(holder: Holder): Promise<Lists> {
    const since = clock.now();
    const lists = await store.listsSince(database.sql, holder, since);
    return { since, lists: lists.map(priceList) };
  }
  const bounded = {
    weigh: ({ lists }: Lists) => 1 + lists.reduce((sum, { hours }) => sum + Math.ceil(hours.size / PRICES_OF_A_ROW), 0),
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
      (id) => knownOf({ scope: 'reseller', reseller_id: id, client_id: null }),
      bounded,
    ),
    client: createRowCache(
      changes,
      PRICE_TOPICS.client,
      async (id) => {
        const client = await findClient(database.sql, id);
        const lists = await knownOf({ scope: 'client', reseller_id: null, client_id: id });
        return { ...lists, resellerId: client?.resellerId };
      },
      bounded,
    ),
  };

  /** Asks again if the clock has gone back: only what holds from then on is known. */
  async function inForce(cache: keyof typeof caches, key: number): Promise<PriceList[]> {
    const known = await caches[cache].get(key);
    if (!known || known.lists.length === 0) return [];
    const now = clock.now();
    if (now >= known.since) return lastBegun(known.lists, now);
    caches[cache].forget(key);
    return lastBegun((await caches[cache].get(key))?.lists ?? [], now);
  }

  return {
    async of(clientId) {
      const own = await inForce('client', clientId);
      const resellerId = (await caches.client.get(clientId))?.resellerId;
      const ofReseller = resellerId === undefined ? [] : await inForce('reseller', resellerId);
      const lists = [...own, ...ofReseller, ...(await inForce('everyone', EVERYONE))];
      return clientPrices(catalog, clientId, lists, clock.now(), offered);
    },

    between: (clientIds, from, to) => pricesBetween(database.sql, clientIds, from, to),

    forget({ scope, reseller_id, client_id }) {
      caches[scope].forget(client_id ?? reseller_id ?? EVERYONE);
    },
  };
}

function lastBegun<List extends { from: Date }>(lists: readonly List[], at: Date): List[] {
  const last = lists.findLast(({ from }) => from <= at);
  return last ? [last] : [];
}

async function pricesBetween(db: Sql, clientIds: readonly number[], from: Date, to: Date) {
  const books = await priceBooksBetween(db, from, to);
  const rows = await store.listsOfClientsBetween(db, clientIds, from, to);
  const lists = rows.map((row) => ({ ...row, ...priceList(row) }));
  const resellers = lists.length === 0 ? [] : await store.resellersOf(db, clientIds);
  const resellersOf = grouped(resellers, (one) => one.client_id);
  return new Map(
    clientIds.map((id) => [id, datedPrices(id, { books, lists, resellers: resellersOf.get(id) ?? [] }, from, to)]),
  );
}

/** What prices of clients are made of, for some time. */
interface Sources {
  books: readonly DatedPriceBook[];
  lists: readonly (PriceList & Holder)[];
  resellers: readonly store.TimedReseller[];
}

/** Returns the prices of one client from each time on at which they may have changed. */
function datedPrices(clientId: number, known: Sources, from: Date, to: Date): DatedPrices[] {
  const { books, resellers } = known;
  const [first] = books;
  if (!first) return [];
  const theirs = (is: (list: Holder) => boolean) => known.lists.filter(is);
  const own = theirs(({ client_id }) => client_id === clientId);
  const ofResellers = theirs(({ reseller_id }) => resellers.some((one) => one.reseller_id === reseller_id));
  const ofEveryone = theirs(({ scope }) => scope === 'everyone');
  const starts = [...books.slice(1), ...own, ...ofResellers, ...ofEveryone].map((one) => one.from);
  const later = [...starts, ...resellers.flatMap(({ until }) => until ?? [])]
    .filter((start) => start > from && start < to)
    .map((start) => start.getTime());
  return [...new Set([from.getTime(), ...later])]
    .sort((a, b) => a - b)
    .map((time) => {
      const at = new Date(time);
      const { book } = books.findLast((one) => one.from <= at) ?? first;
      const reseller = resellers.find(({ until }) => until === null || until > at)?.reseller_id;
      const inForce = [
        ...lastBegun(own, at),
        ...lastBegun(
          ofResellers.filter(({ reseller_id }) => reseller_id === reseller),
          at,
        ),
        ...lastBegun(ofEveryone, at),
      ];
      return { from: at, prices: clientPrices(book, clientId, inForce, at, () => true) };
    });
}
