import { Decimal } from 'decimal.js';
import { announce } from '../../../../db/changes.ts';
import type { Sql, Transaction } from '../../../../db/database.ts';
import type { ListedPrice, ListTerms } from '../../../../db/json-columns.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { type FieldProblem, InvalidError, NotFoundError } from '../../../../lib/errors.ts';
import { calendarTime, isoSeconds } from '../../../../lib/time.ts';
import { VOLUME_TYPES } from '../../../../lib/volume-types.ts';
import type { Platform } from '../../../../platform.ts';
import { type Principal, requirePlatform } from '../../../../requests/principal.ts';
import { type Catalog, priced, pricedPer } from '../../catalog/service.ts';
import type { Holder } from '../../dated-lists/in-transaction.ts';
import { DatedListQuery } from '../../dated-lists/schema.ts';
import * as datedLists from '../../dated-lists/service.ts';
import type { ClientPrices } from '../client-prices.ts';
import { EVERYONE, isOffered, PRICE_TOPICS } from '../rates.ts';
import * as schema from './schema.ts';
import * as store from './store.ts';

/** The items that every catalogue prices. */
const ITEMS: ReadonlySet<string> = new Set([
  ...VOLUME_TYPES.map(priced.volume),
  ...['standard', 'vast'].map(priced.fileShare),
  ...(['linux', 'windows'] as const).map(priced.image),
  priced.publicAddress,
  priced.imageStorage,
  priced.logStorage,
  priced.ddosProtection,
  priced.egressTraffic('virtual'),
  priced.egressTraffic('baremetal'),
]);

/** Returns what is wrong with the prices of a new list. */
export function priceProblems(
  { prices = [], currency }: schema.NewPriceList,
  catalog: Pick<Catalog, 'regions' | 'flavor' | 'hasPrice'>,
): FieldProblem[] {
  const seen = new Set<string>();
  return prices.flatMap((price, index): FieldProblem[] => {
    const problem = (field: string, message: string) => ({ field: `prices.${index}.${field}`, message });
    const problems = [];
    problems.push(...amountProblems(price, problem));
    if (!price.currency && !currency) {
      problems.push(problem('currency', 'Is required in a list without a currency.'));
    }
    if (price.region_id !== undefined && !catalog.regions.has(price.region_id)) {
      problems.push(problem('region_id', `Region ${price.region_id} not found.`));
    }
    if (!isKnown(price, catalog)) {
      problems.push(
        problem('item', `${price.item} is not offered ${price.region_id === undefined ? 'anywhere' : 'there'}.`),
      );
    }
    const key = `${price.region_id} ${price.currency ?? currency} ${price.item}`;
    if (seen.has(key)) problems.push(problem('item', 'Has a price already, in the same region and currency.'));
    seen.add(key);
    return problems;
  });
}

/** Traffic has a price for a GB, everything else one for a time. */
function amountProblems(
  { item, per_hour, per_month, per_gb }: ListedPrice,
  problem: (field: string, message: string) => FieldProblem,
): FieldProblem[] {
  const times = [per_hour, per_month].filter((one) => one !== undefined).length;
  if (pricedPer(item) === 'gb') {
    return per_gb === undefined || times > 0 ? [problem('per_gb', `Send only per_gb for ${item}.`)] : [];
  }
  if (per_gb !== undefined) return [problem('per_gb', 'Is for traffic only.')];
  return times === 1 ? [] : [problem('per_hour', 'Send either per_hour or per_month.')];
}

function isKnown({ item, region_id }: ListedPrice, catalog: Pick<Catalog, 'regions' | 'flavor' | 'hasPrice'>): boolean {
  if (!ITEMS.has(item) && !item.startsWith(priced.flavor(''))) return false;
  const where = region_id === undefined ? [...catalog.regions.keys()] : [region_id];
  return where.some((region) => isOffered(catalog, region, item));
}

/*
 * What accounts pay, apart from the catalogue. The platform administrator makes lists for everyone, resellers and accounts,
 * a reseller's administrator those for its clients. Lists of others are not found.
 */

const KIND = { table: 'price_lists', rows: store.ALL_LISTS, name: 'Price list' } as const;

/** Tells every process. */
async function tell(on: Platform, tx: Transaction, holder: Holder): Promise<void> {
  const key = holder.client_id ?? holder.reseller_id ?? EVERYONE;
  await announce(tx.client, PRICE_TOPICS[holder.scope], key);
  tx.afterCommit(() => on.rates.forget(holder));
}

export async function listPriceLists(
  on: Platform,
  principal: Principal,
  query: DatedListQuery,
): Promise<schema.PriceLists> {
  const { rows, next_page_token } = await datedLists.listDatedLists<store.PriceListRow>(on, KIND, principal, query);
  return { results: rows.map(schema.presentedList), next_page_token };
}

/** @throws NotFoundError */
export async function getPriceList(on: Platform, principal: Principal, id: number): Promise<schema.PriceList> {
  return schema.presentedList(await datedLists.getDatedList<store.PriceListRow>(on, KIND, principal, id));
}

/** Takes effect in every process at once. @throws InvalidError, ForbiddenError, ConflictError for too many */
export async function createPriceList(
  on: Platform,
  principal: Principal,
  given: schema.NewPriceList,
): Promise<schema.PriceList> {
  const { price = 'retail' } = given;
  const terms = termsOf(given);
  if (price === 'wholesale') requirePlatform(principal, 'says what resellers owe it');
  const row = await datedLists.createDatedList(on, KIND, principal, {
    list: given,
    problems: [...kindProblems(given), ...priceProblems(given, on.catalog)],
    async insert(tx, made) {
      if (made.client_id !== null && !principal.platformAdministrator) {
        await requireFloor(on, tx.sql, made.client_id, made.valid_from, terms);
      }
      const list = await store.insertPriceList(tx, { ...made, price, terms });
      await tell(on, tx, list);
      return list;
    },
  });
  return schema.presentedList(row);
}

/** @throws NotFoundError, ForbiddenError, ConflictError if it has come into force */
export const deletePriceList = (on: Platform, principal: Principal, id: number): Promise<void> =>
  datedLists.deleteDatedList(on, KIND, principal, {
    id,
    async remove(tx, list) {
      await store.deletePriceList(tx, id);
      await tell(on, tx, list);
    },
  });

/** Returns what an account pays. @throws NotFoundError for one that the caller doesn't manage, InvalidError */
export async function listPrices(
  on: Platform,
  principal: Principal,
  { client_id: clientId = principal.clientId, at: text }: schema.PricesQuery,
): Promise<schema.Prices> {
  const manages = await datedLists.managesClient(on.database.sql, principal, clientId);
  if (clientId !== principal.clientId && !manages) throw new NotFoundError('Client', clientId);
  const at = calendarTime('at', text);
  const prices = at ? await pricesAt(on, clientId, at) : await on.rates.of(clientId);
  const isHidden = prices.terms.visibility === 'hide' && !manages;
  return schema.presentedPrices(clientId, at ?? on.clock.now(), prices, isHidden ? [] : itemsOf(on, prices));
}

/** Returns what the catalogue or a list has a price for. */
function itemsOf(on: Platform, { terms, lists }: ClientPrices) {
  const listed = lists.flatMap(({ terms: { prices = [] } }) =>
    prices.flatMap(({ region_id, item }) => {
      const where = region_id === undefined ? [...on.catalog.regions.keys()] : [region_id];
      return where.filter((id) => isOffered(on.catalog, id, item)).map((regionId) => ({ regionId, item }));
    }),
  );
  const all = [...on.catalog.pricedItems(terms.currency), ...listed];
  return [...new Map(all.map((one) => [`${one.regionId} ${one.item}`, one])).values()];
}

async function pricesAt(on: Platform, clientId: number, at: Date) {
  const dated = await on.rates.between([clientId], at, new Date(at.getTime() + 1));
  return dated.get(clientId)?.[0]?.prices ?? on.rates.of(clientId);
}

/** Returns what is wrong with the fields for what the list is: wholesale or retail. */
function kindProblems(list: schema.NewPriceList): FieldProblem[] {
  if (list.price !== 'wholesale') {
    return list.floor_percent === undefined ? [] : [{ field: 'floor_percent', message: 'Is for wholesale only.' }];
  }
  const retail = (['visible', 'trial_until'] as const).filter((field) => list[field] !== undefined);
  const scope = list.scope === 'client' ? ['scope'] : [];
  return [...retail, ...scope].map((field) => ({
    field,
    message: field === 'scope' ? 'Wholesale is for everyone or a reseller.' : 'Is for retail only.',
  }));
}

/** A mistake is in all items or in few. */
const MOST_FAULTS = 10;

/** @throws InvalidError naming what the list would sell below the floor that the platform has set */
async function requireFloor(on: Platform, db: Sql, clientId: number, at: Date, terms: ListTerms): Promise<void> {
  const outlook = await on.rates.withList(db, clientId, at, terms);
  if (outlook?.floorPercent === undefined) return;
  const { retail, wholesale, floorPercent } = outlook;
  const { prices = [] } = terms;
  const { currency } = retail.terms;
  /** Where the list says what it costs there; -1 if it doesn't. */
  const placeOf = (item: string, regionId: number) => {
    const says = (one: ListedPrice) => one.item === item && (one.currency ?? terms.currency) === currency;
    const own = prices.findIndex((one) => says(one) && one.region_id === regionId);
    return own >= 0 ? own : prices.findIndex((one) => says(one) && one.region_id === undefined);
  };
  const faults = itemsOf(on, retail).flatMap(({ regionId, item }): FieldProblem[] => {
    const index = placeOf(item, regionId);
    const isTouched = index >= 0 || terms.discount_percent !== undefined || terms.currency !== undefined;
    if (!isTouched) return [];
    const floor = netHour(wholesale, regionId, item)?.times(floorPercent).div(100);
    const asked = netHour(retail, regionId, item);
    if (!asked || (floor && asked.gte(floor))) return [];
    const broad = terms.discount_percent === undefined ? 'currency' : 'discount_percent';
    const field = index < 0 ? broad : `prices.${index}.item`;
    const message = floor
      ? `${item} in region ${regionId} would cost ${asked.toFixed()} ${currency} ${pricedPer(item) === 'gb' ? 'a GB' : 'an hour'} before tax; the platform allows ${floor.toFixed()} at least.`
      : `${item} in region ${regionId} has no wholesale price in ${currency}; the platform allows only prices in currencies that have one.`;
    return [{ field, message }];
  });
  if (faults.length > 0) throw new InvalidError(faults.slice(0, MOST_FAULTS));
}

function netHour({ terms, hourPrice }: ClientPrices, regionId: number, item: string): Decimal | undefined {
  const hour = hourPrice(regionId, item);
  return hour === undefined ? undefined : new Decimal(hour).times(new Decimal(1).minus(terms.discount));
}

/** Times are kept in UTC, in full seconds. @throws InvalidError */
function termsOf({
  scope: _scope,
  id: _id,
  valid_from: _from,
  price: _price,
  ...terms
}: schema.NewPriceList): ListTerms {
  const trial = calendarTime('trial_until', terms.trial_until);
  return { ...terms, ...(trial && { trial_until: isoSeconds(trial) }) };
}

const BASE = '/tradewind/v1/price_lists';
const ONE = `${BASE}/:price_list_id`;
const tags = ['Pricing'];
const access = 'resell';
const WHO =
  'The platform administrator has all lists; the administrator of a reseller those of the reseller and its clients.';

export function priceListRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags });

  api.get(BASE, 'listPriceLists', 'List price lists', {
    access,
    description: `All that have been in force, are, or will be: the latest first. ${WHO}`,
    query: DatedListQuery,
    answer: schema.PriceLists,
    handler: ({ principal, query }) => listPriceLists(on, principal, query),
  });

  api.post(BASE, 'createPriceList', 'Set what accounts pay', {
    access,
    description:
      'From its time on, the list replaces the one before for the same accounts. What it leaves out is as in the list for the reseller, then as in that for everyone, then as in the catalogue. The platform administrator makes lists for anybody, the administrator of a reseller for its clients. A wholesale list says what resellers owe the platform.',
    body: schema.NewPriceList,
    status: 201,
    answer: schema.PriceList,
    handler: async ({ principal, body }) => await createPriceList(on, principal, body),
  });

  api.get(ONE, 'getPriceList', 'Get a price list', {
    access,
    params: schema.PriceListParams,
    answer: schema.PriceList,
    handler: ({ principal, params }) => getPriceList(on, principal, params.price_list_id),
  });

  api.delete(ONE, 'deletePriceList', 'Delete a price list that is not in force yet', {
    access,
    description: 'What has come into force stays: let another list follow it.',
    params: schema.PriceListParams,
    handler: ({ principal, params }) => deletePriceList(on, principal, params.price_list_id),
  });

  api.get('/tradewind/v1/prices', 'getPrices', 'What an account pays', {
    refuses: [404],
    description:
      'By the price lists and the catalogue, now or at another time. Your own account; of a reseller its clients as well, for its administrators.',
    query: schema.PricesQuery,
    answer: schema.Prices,
    handler: ({ principal, query }) => listPrices(on, principal, query),
  });
}
