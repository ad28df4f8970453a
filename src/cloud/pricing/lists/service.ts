import { announce } from '../../../db/changes.ts';
import type { Database, Transaction } from '../../../db/database.ts';
import { calendarTime } from '../../../lib/calendar-time.ts';
import type { Clock } from '../../../lib/clock.ts';
import { ConflictError, ForbiddenError, InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { found } from '../../../lib/found.ts';
import { pageToken, placeOf } from '../../../lib/page-token.ts';
import { allows, type Principal } from '../../../requests/principal.ts';
import type { Catalog } from '../../catalog/service.ts';
import type { ClientPrices } from '../client-prices.ts';
import { isOffered } from '../offered.ts';
import { EVERYONE, PRICE_TOPICS, type Rates } from '../rates.ts';
import { presentedList, presentedPrices } from './presenter.ts';
import { listProblems, secondOf } from './rules.ts';
import type { NewPriceList, PriceList, PriceListQuery, PriceLists, Prices, PricesQuery } from './schema.ts';
import * as store from './store.ts';
import type { ListTerms } from './tables.ts';

/** Each one divides a report of costs. So no report has more parts than this for each scope. */
const MOST_IN_A_MONTH = 100;
const MONTH_MS = 31 * 86_400_000;

/**
 * What accounts pay, apart from the catalogue. The platform administrator makes lists for everyone, resellers and accounts, a
 * reseller's administrator those for its clients. Lists of others are not found.
 */
export interface PriceListService {
  list(principal: Principal, query: PriceListQuery): Promise<PriceLists>;
  /** @throws NotFoundError */
  get(principal: Principal, id: number): Promise<PriceList>;
  /** Takes effect in every process at once. @throws InvalidError, ForbiddenError, ConflictError for too many */
  create(principal: Principal, list: NewPriceList): Promise<PriceList>;
  /** @throws NotFoundError, ForbiddenError, ConflictError if it has come into force */
  delete(principal: Principal, id: number): Promise<void>;
  /** Returns what an account pays. @throws NotFoundError for one that the caller doesn't manage, InvalidError */
  prices(principal: Principal, query: PricesQuery): Promise<Prices>;
}

export function createPriceLists(deps: {
  database: Database;
  catalog: Catalog;
  clock: Clock;
  rates: Rates;
}): PriceListService {
  const { database, catalog, clock, rates } = deps;

  /** @throws InvalidError for what the caller doesn't manage or isn't there, ForbiddenError */
  async function holderOf(principal: Principal, { scope, id = 0 }: NewPriceList): Promise<store.Holder> {
    if (scope !== 'client') requirePlatform(principal);
    if (scope === 'everyone') return { scope, reseller_id: null, client_id: null };
    const sight = sightOf(principal);
    const known =
      scope === 'reseller'
        ? await store.resellerExists(database.sql, id)
        : reaches(sight, await store.resellerOf(database.sql, id));
    if (!known)
      throw new InvalidError({ id: [`${scope === 'client' ? 'Client' : 'Reseller'} ${id} not found.`] });
    return scope === 'reseller'
      ? { scope, reseller_id: id, client_id: null }
      : { scope, reseller_id: null, client_id: id };
  }

  /** Tells every process. */
  async function tell(tx: Transaction, holder: store.Holder): Promise<void> {
    const key = holder.client_id ?? holder.reseller_id ?? EVERYONE;
    await announce(tx.client, PRICE_TOPICS[holder.scope], key);
    tx.afterCommit(() => rates.forget(holder));
  }

  return {
    async list(principal, { scope, id, limit = 100, page_token }) {
      if (id !== undefined && (scope === undefined || scope === 'everyone')) {
        throw new InvalidError({ id: ['Needs the scope reseller or client.'] });
      }
      const of = {
        ...(scope && { scope }),
        ...(id !== undefined && (scope === 'client' ? { client_id: id } : { reseller_id: id })),
      };
      const after = placeOf(page_token, isPair);
      const rows = await store.listPriceLists(database.sql, sightOf(principal), of, {
        after: after && { from: new Date(after[0]), id: after[1] },
        limit: limit + 1,
      });
      const results = rows.slice(0, limit);
      const last = rows.length > limit ? results.at(-1) : undefined;
      return {
        results: results.map(presentedList),
        next_page_token: last ? pageToken([last.valid_from.getTime(), last.id]) : null,
      };
    },

    async get(principal, id) {
      return presentedList(
        found('Price list', id, await store.findPriceList(database.sql, sightOf(principal), id)),
      );
    },

    async create(principal, given) {
      const now = clock.now();
      const from = secondOf(calendarTime('valid_from', given.valid_from) ?? now);
      const problems = listProblems(given, catalog, from, now);
      if (problems.length > 0) throw new InvalidError(problems);
      const terms = termsOf(given);
      const holder = await holderOf(principal, given);
      if (holder.client_id !== null) principal.writes?.concerns(holder.client_id);
      return database.accept(principal, async (tx) => {
        await store.lockHolder(tx, holder);
        const recently = new Date(now.getTime() - MONTH_MS);
        if ((await store.countAfter(tx, holder, recently)) >= MOST_IN_A_MONTH) {
          throw new ConflictError(
            `${MOST_IN_A_MONTH} price lists for the same began in the last 31 days or are still to begin, which is the most`,
          );
        }
        const row = await store.insertPriceList(tx, {
          ...holder,
          valid_from: from,
          terms,
          created_by: principal.userId,
          created_at: now,
        });
        await tell(tx, holder);
        principal.writes?.made(row.id);
        return presentedList(row);
      });
    },

    async delete(principal, id) {
      const list = found('Price list', id, await store.findPriceList(database.sql, sightOf(principal), id));
      if (list.scope !== 'client') requirePlatform(principal);
      if (list.client_id !== null) principal.writes?.concerns(list.client_id);
      await database.accept(principal, async (tx) => {
        await store.lockHolder(tx, list);
        found('Price list', id, await store.findPriceList(tx.sql, sightOf(principal), id));
        if (list.valid_from <= clock.now()) {
          throw new ConflictError(
            `Price list ${id} has come into force and is part of the past; let another one follow it`,
          );
        }
        await store.deletePriceList(tx, id);
        await tell(tx, list);
      });
    },

    async prices(principal, { client_id: clientId = principal.clientId, at: text }) {
      const manages =
        allows(principal, 'resell') &&
        reaches(sightOf(principal), await store.resellerOf(database.sql, clientId));
      if (clientId !== principal.clientId && !manages) throw new NotFoundError('Client', clientId);
      const at = calendarTime('at', text);
      const prices = at ? await pricesAt(clientId, at) : await rates.of(clientId);
      const isHidden = prices.terms.visibility === 'hide' && !manages;
      return presentedPrices(clientId, at ?? clock.now(), prices, isHidden ? [] : itemsOf(prices));
    },
  };

  /** Returns what the catalogue or a list has a price for. */
  function itemsOf({ terms, lists }: ClientPrices) {
    const listed = lists.flatMap(({ terms: { prices = [] } }) =>
      prices.flatMap(({ region_id, item }) => {
        const where = region_id === undefined ? [...catalog.regions.keys()] : [region_id];
        return where.filter((id) => isOffered(catalog, id, item)).map((regionId) => ({ regionId, item }));
      }),
    );
    const all = [...catalog.pricedItems(terms.currency), ...listed];
    return [...new Map(all.map((one) => [`${one.regionId} ${one.item}`, one])).values()];
  }

  async function pricesAt(clientId: number, at: Date) {
    const dated = await rates.between([clientId], at, new Date(at.getTime() + 1));
    return dated.get(clientId)?.[0]?.prices ?? rates.of(clientId);
  }
}

/** Times are kept in UTC. @throws InvalidError */
function termsOf({ scope: _scope, id: _id, valid_from: _from, ...terms }: NewPriceList): ListTerms {
  const trial = calendarTime('trial_until', terms.trial_until);
  return { ...terms, ...(trial && { trial_until: trial.toISOString() }) };
}

function sightOf({ platformAdministrator, resellerId }: Principal): store.Sight {
  return platformAdministrator ? { all: true } : { all: false, resellerId: resellerId ?? 0 };
}

/** Whether the caller manages the clients of that reseller. */
function reaches(sight: store.Sight, resellerId: number | undefined): boolean {
  return resellerId !== undefined && (sight.all || sight.resellerId === resellerId);
}

/** @throws ForbiddenError */
function requirePlatform({ platformAdministrator }: Principal): void {
  if (platformAdministrator) return;
  throw new ForbiddenError(
    'Only the platform administrator sets what more than one account pays; name a client',
  );
}

/** Bounded, so that the first is a time that a database can read. */
const isPair = (place: unknown): place is [number, number] =>
  Array.isArray(place) &&
  place.length === 2 &&
  place.every((one) => Number.isSafeInteger(one) && one >= 0 && one < 1e14);
