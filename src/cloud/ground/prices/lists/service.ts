import { announce } from '../../../../db/changes.ts';
import type { Database, Transaction } from '../../../../db/database.ts';
import { calendarTime } from '../../../../lib/calendar-time.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { NotFoundError } from '../../../../lib/errors.ts';
import { isoSeconds } from '../../../../lib/timestamps.ts';
import type { Principal } from '../../../../requests/principal.ts';
import type { Catalog } from '../../catalog/service.ts';
import type { Holder } from '../../dated-lists/in-transaction.ts';
import type { DatedListQuery } from '../../dated-lists/schema.ts';
import { createDatedLists, managesClient } from '../../dated-lists/service.ts';
import type { ClientPrices } from '../client-prices.ts';
import { isOffered } from '../offered.ts';
import { EVERYONE, PRICE_TOPICS, type Rates } from '../rates.ts';
import { presentedList, presentedPrices } from './presenter.ts';
import { priceProblems } from './rules.ts';
import type { NewPriceList, PriceList, PriceLists, Prices, PricesQuery } from './schema.ts';
import * as store from './store.ts';
import type { ListTerms } from './tables.ts';

/**
 * What accounts pay, apart from the catalogue. The platform administrator makes lists for everyone, resellers and accounts, a
 * reseller's administrator those for its clients. Lists of others are not found.
 */
export interface PriceListService {
  list(principal: Principal, query: DatedListQuery): Promise<PriceLists>;
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

  const lists = createDatedLists<store.PriceListRow>({
    database,
    clock,
    table: 'price_lists',
    name: 'Price list',
  });

  /** Tells every process. */
  async function tell(tx: Transaction, holder: Holder): Promise<void> {
    const key = holder.client_id ?? holder.reseller_id ?? EVERYONE;
    await announce(tx.client, PRICE_TOPICS[holder.scope], key);
    tx.afterCommit(() => rates.forget(holder));
  }

  return {
    async list(principal, query) {
      const { rows, next_page_token } = await lists.page(principal, query);
      return { results: rows.map(presentedList), next_page_token };
    },

    async get(principal, id) {
      return presentedList(await lists.find(principal, id));
    },

    async create(principal, given) {
      const terms = termsOf(given);
      const row = await lists.create(principal, given, priceProblems(given, catalog), async (tx, made) => {
        const list = await store.insertPriceList(tx, { ...made, terms });
        await tell(tx, list);
        return list;
      });
      return presentedList(row);
    },

    delete: (principal, id) =>
      lists.delete(principal, id, async (tx, list) => {
        await store.deletePriceList(tx, id);
        await tell(tx, list);
      }),

    async prices(principal, { client_id: clientId = principal.clientId, at: text }) {
      const manages = await managesClient(database.sql, principal, clientId);
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

/** Times are kept in UTC, in full seconds. @throws InvalidError */
function termsOf({ scope: _scope, id: _id, valid_from: _from, ...terms }: NewPriceList): ListTerms {
  const trial = calendarTime('trial_until', terms.trial_until);
  return { ...terms, ...(trial && { trial_until: isoSeconds(trial) }) };
}
