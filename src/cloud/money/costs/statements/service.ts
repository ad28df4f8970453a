import { type RawBuilder, sql } from 'kysely';
import type { Sql } from '../../../../db/database.ts';
import { InvalidError, NotFoundError } from '../../../../lib/errors.ts';
import { pageToken, placeOf } from '../../../../lib/page.ts';
import { calendarTime, secondOf } from '../../../../lib/time.ts';
import type { Platform } from '../../../../platform.ts';
import { allows, lacks, type MoneySight, moneySeenBy, type Principal } from '../../../../requests/principal.ts';
import type { DatedPrices, PriceKind } from '../../../ground/prices/service.ts';
import { costOf, quantityOf, type TimedUse } from '../costing.ts';
import { DAY_MS, startOfDay } from '../period.ts';
import { unitOf } from '../presenter.ts';
import type { UsedType } from '../schema.ts';
import { AMOUNT, unitsOfCut } from '../store.ts';
import type { CostLine, CostQuery, CostStatement, StatementQuery, UsageLine, UsageStatement } from './schema.ts';

/** Cuts a time where prices change, and at the beginning of each day in UTC if days have lines of their own. */
export function spansOf(
  clientId: number,
  { from, to, byDay }: { from: Date; to: Date; byDay: boolean },
  changes: readonly { from: Date }[],
): Span[] {
  const starts = new Set([from.getTime(), ...changes.map((change) => Math.max(+change.from, +from))]);
  if (byDay) for (let day = startOfDay(from).getTime() + DAY_MS; day < to.getTime(); day += DAY_MS) starts.add(day);
  const sorted = [...starts].filter((start) => start < to.getTime()).sort((a, b) => a - b);
  return sorted.map((start, index) => ({
    clientId,
    from: new Date(start),
    to: new Date(sorted[index + 1] ?? to),
    book: Math.max(
      0,
      changes.findLastIndex((change) => change.from.getTime() <= start),
    ),
    day: byDay ? new Date(start).toISOString().slice(0, 10) : '',
  }));
}

/*
 * What accounts used, and what that costs: of the caller's account, of the clients of its reseller for its administrators,
 * or of all for the platform administrator. All throw NotFoundError for another account, InvalidError, and UnavailableError
 * if too many wait.
 */

const MOST_DAYS = 31;
/** Accounts whose use is added up at once. */
const MOST_CLIENTS = 100;
/** Lines that an export reads at once. */
const EXPORTED = 1_000;

interface Asked {
  sight: Sight;
  wanted: Wanted;
  byDay: boolean;
  /** Hidden prices are hidden from an account, not from those who bill it. */
  seesHidden: boolean;
  price: PriceKind;
  /** Of wholesale: only while it was the reseller of the account; null for all. */
  debtor: number | null;
}
interface Page<Line> {
  lines: Line[];
  next: LineKey | undefined;
}
type DatedByClient = ReadonlyMap<number, readonly DatedPrices[]>;

interface PagePlace {
  after: LineKey | undefined;
  limit: number;
}

async function askedBy(on: Platform, principal: Principal, query: CostQuery): Promise<Asked> {
  const { price = 'retail' } = query;
  const debtor = debtorOf(principal, query);
  const sight: Sight = debtor === null ? moneySeenBy(principal) : { all: false, debtor };
  const wanted = wantedBy(query, on.clock.now());
  const seen = wanted.clients && (await visibleClients(on.database.sql, sight, wanted.clients));
  const foreign = wanted.clients?.find((id) => !seen?.has(id));
  if (foreign !== undefined) throw new NotFoundError('Client', foreign);
  return {
    sight,
    wanted,
    byDay: query.by?.includes('day') ?? false,
    seesHidden: allows(principal, 'resell'),
    price,
    debtor,
  };
}

/**
 * Returns the reseller whose wholesale is asked for; null for that of all, or for retail.
 * @throws ForbiddenError, NotFoundError for another one, InvalidError
 */
function debtorOf(principal: Principal, { price, reseller_id: asked }: CostQuery): number | null {
  if (price !== 'wholesale') {
    if (asked !== undefined) throw new InvalidError({ reseller_id: ['Needs price=wholesale.'] });
    return null;
  }
  if (!allows(principal, 'resell')) throw lacks('resell');
  if (principal.platformAdministrator) return asked ?? null;
  if (asked !== undefined && asked !== principal.resellerId) throw new NotFoundError('Reseller', asked);
  return principal.resellerId ?? null;
}

/** Reads a page. Accounts whose lines are all read are not looked at again. */
async function page<Line>(
  on: Platform,
  { sight, wanted, byDay, debtor }: Asked,
  { after, limit }: PagePlace,
  datedOf: (clients: readonly number[]) => Promise<DatedByClient>,
  present: (row: LineRow, dated: DatedByClient) => Line,
): Promise<Page<Line>> {
  const found = await clientsWithUse(on.database.sql, sight, wanted, {
    first: after?.client_id ?? 0,
    limit: MOST_CLIENTS + 1,
  });
  const clients = found.slice(0, MOST_CLIENTS);
  if (clients.length === 0) return { lines: [], next: undefined };
  const dated = await datedOf(clients);
  const owes = ({ clientId, book }: Span) => debtor === null || dated.get(clientId)?.[book]?.resellerId === debtor;
  const spans = clients.flatMap((id) => spansOf(id, { ...wanted, byDay }, dated.get(id) ?? []).filter(owes));
  const rows = await linesOf(on.database.sql, wanted, spans, { after, limit: limit + 1 });
  const shown = rows.slice(0, limit);
  const another = found[MOST_CLIENTS];
  return {
    lines: shown.map((row) => present(row, dated)),
    next: rows.length > limit ? shown.at(-1) : another === undefined ? undefined : firstOf(another),
  };
}

async function ratesFor(
  on: Platform,
  { wanted, seesHidden, price }: Asked,
  clients: readonly number[],
): Promise<DatedByClient> {
  const dated = await on.rates.between(clients, wanted.from, wanted.to, price);
  return seesHidden ? new Map([...dated].map(([id, each]) => [id, each.map(shown)])) : dated;
}

const usagePage = (on: Platform, asked: Asked, place: PagePlace) =>
  page(on, asked, place, async () => new Map(), usageLine);

const costPage = (on: Platform, asked: Asked, place: PagePlace) =>
  page(on, asked, place, (clients) => ratesFor(on, asked, clients), costLine);

async function statement<Line>(
  on: Platform,
  read: (on: Platform, asked: Asked, place: PagePlace) => Promise<Page<Line>>,
  principal: Principal,
  query: CostQuery,
) {
  const asked = await askedBy(on, principal, query);
  const after = keyIn(query.page_token);
  const { lines, next } = await on.inTurn(() => read(on, asked, { after, limit: query.limit ?? 100 }));
  return { lines, next_page_token: next ? tokenOf(next) : null };
}

async function exported<Line>(
  on: Platform,
  read: (on: Platform, asked: Asked, place: PagePlace) => Promise<Page<Line>>,
  principal: Principal,
  query: CostQuery,
) {
  const asked = await askedBy(on, principal, query);
  const first = keyIn(query.page_token);
  const pageAfter = (after: LineKey | undefined) => () => read(on, asked, { after, limit: EXPORTED });
  const begun = await on.inTurn(pageAfter(first));
  async function* pages(): AsyncGenerator<Line[]> {
    for (let page = begun; ; ) {
      if (page.lines.length > 0) yield page.lines;
      if (!page.next) return;
      page = await on.inTurn(pageAfter(page.next), { begun: true });
    }
  }
  return pages();
}

export const listUsage = (on: Platform, principal: Principal, query: StatementQuery): Promise<UsageStatement> =>
  statement(on, usagePage, principal, query);

export const listCosts = (on: Platform, principal: Principal, query: CostQuery): Promise<CostStatement> =>
  statement(on, costPage, principal, query);

/** Returns all pages. Throws before the first one. */
export const exportUsage = (on: Platform, principal: Principal, query: StatementQuery) =>
  exported(on, usagePage, principal, query);

export const exportCosts = (on: Platform, principal: Principal, query: CostQuery) =>
  exported(on, costPage, principal, query);

const shown = ({ prices, ...dated }: DatedPrices): DatedPrices => ({
  ...dated,
  prices: { ...prices, terms: { ...prices.terms, visibility: 'show' } },
});

/** @throws InvalidError */
function wantedBy(query: StatementQuery, now: Date): Wanted {
  const to = secondOf(calendarTime('to', query.to) ?? now);
  const from = secondOf(calendarTime('from', query.from) ?? startOfMonth(new Date(to.getTime() - 1)));
  if (to < from) throw new InvalidError({ to: ['Must not be before from.'] });
  if (to.getTime() - from.getTime() > MOST_DAYS * DAY_MS) {
    throw new InvalidError({ to: [`Must be ${MOST_DAYS} days after from at most.`] });
  }
  const byResource = query.by?.includes('resource') ?? false;
  return {
    from,
    to,
    now,
    clients: query.client_id,
    projects: query.project_id,
    regions: query.region_id,
    types: query.type,
    byProject: byResource || (query.by?.includes('project') ?? false),
    byResource,
  };
}

const startOfMonth = (time: Date): Date => new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth()));

function usageLine(row: LineRow): UsageLine {
  const { client_id, project_id, resource_id, name, day, region_id, type, sku, uses } = row;
  return {
    client_id,
    project_id: project_id || null,
    resource_id: resource_id || null,
    name,
    day: day || null,
    region_id,
    type,
    kind: sku,
    quantity: quantityOf(uses).toNumber(),
    unit: unitOf(type),
  };
}

function costLine(row: LineRow, dated: DatedByClient): CostLine {
  const { cost, currency, err } = costOf(dated.get(row.client_id) ?? [], row, row.uses, { rounding: false });
  return { ...usageLine(row), cost, currency, err };
}

/** Returns the place before the first line of the account. */
const firstOf = (client_id: number): LineKey => ({
  client_id,
  project_id: -1,
  resource_id: '',
  day: '',
  type: '',
  sku: '',
  region_id: 0,
});

const tokenOf = ({ client_id, project_id, resource_id, day, type, sku, region_id }: LineKey): string =>
  pageToken([client_id, project_id, resource_id, day, type, sku, region_id]);

/** @throws InvalidError */
function keyIn(token: string | undefined): LineKey | undefined {
  const place = placeOf(token, isPlace);
  if (!place) return undefined;
  const [client_id, project_id, resource_id, day, type, sku, region_id] = place;
  return { client_id, project_id, resource_id, day, type, sku, region_id };
}

const isPlace = (place: unknown): place is [number, number, string, string, string, string, number] =>
  Array.isArray(place) &&
  place.length === 7 &&
  place.every((one, index) =>
    index >= 2 && index <= 5 ? typeof one === 'string' && !one.includes('\0') : Number.isSafeInteger(one),
  );

/** The accounts whose use a caller may see: all, its own and those of its reseller, or those a reseller ever had. */
export type Sight = MoneySight | { all: false; debtor: number };

export interface Wanted {
  from: Date;
  to: Date;
  now: Date;
  clients: readonly number[] | undefined;
  projects: readonly number[] | undefined;
  regions: readonly number[] | undefined;
  types: readonly UsedType[] | undefined;
  byProject: boolean;
  byResource: boolean;
}

/** A time in which an account had the same prices, on one day if that matters. */
export interface Span {
  clientId: number;
  from: Date;
  to: Date;
  book: number;
  /** Empty if days have no lines of their own. */
  day: string;
}

/** Identifies a line of a statement, and orders the lines. A field that the statement doesn't split by is 0 or empty. */
export interface LineKey {
  client_id: number;
  project_id: number;
  resource_id: string;
  day: string;
  type: string;
  sku: string;
  region_id: number;
}
export interface LineRow extends LineKey {
  type: UsedType;
  name: string | null;
  uses: TimedUse[];
}

function seenBy(sight: Sight): RawBuilder<unknown> {
  if (sight.all) return sql`true`;
  if ('clientId' in sight) return sql`(clients.id = ${sight.clientId} or clients.reseller_id = ${sight.resellerId})`;
  return sql`(clients.reseller_id = ${sight.debtor}
    or clients.id in (select client_id from former_resellers where reseller_id = ${sight.debtor}))`;
}

/** Returns which of the accounts the caller may see. */
export async function visibleClients(db: Sql, sight: Sight, ids: readonly number[]): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`
    select id from clients where id = any(${ids}::bigint[]) and ${seenBy(sight)}`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** Returns the accounts that have lines, in order, beginning with the ID. */
export async function clientsWithUse(
  db: Sql,
  sight: Sight,
  wanted: Wanted,
  { first, limit }: { first: number; limit: number },
): Promise<number[]> {
  const { clients } = wanted;
  const { rows } = await sql<{ id: number }>`
    select id from clients
    where id >= ${first} and ${seenBy(sight)} and ${clients ? sql`id = any(${clients}::bigint[])` : sql`true`}
      and exists (select from usage_periods as used where client_id = clients.id and ${matches(wanted)})
    order by id limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

function matches({ from, to, projects, regions, types }: Wanted): RawBuilder<unknown> {
  const conditions = [sql`used.started_at < ${to} and (used.ended_at is null or used.ended_at > ${from})`];
  if (projects) conditions.push(sql`used.project_id = any(${projects}::bigint[])`);
  if (regions) conditions.push(sql`used.region_id = any(${regions}::bigint[])`);
  if (types) conditions.push(sql`used.type = any(${types}::text[])`);
  return sql.join(conditions, sql` and `);
}

/**
 * Returns lines of the accounts of the spans, in order, after the place. What goes on counts until the second that has begun,
 * as if it ended now.
 */
export async function linesOf(
  db: Sql,
  wanted: Wanted,
  spans: readonly Span[],
  { after, limit }: { after: LineKey | undefined; limit: number },
): Promise<LineRow[]> {
  const { byProject, byResource, now } = wanted;
  const key = sql`client_id, project_id, resource_id, day, type, sku, region_id`;
  const over = sql`least(coalesce(used.ended_at, date_trunc('second', ${now}::timestamptz)), spans.until)`;
  const began = sql`greatest(used.started_at, spans.begun)`;
  const { rows } = await sql<LineKey & { type: UsedType; name: string | null; uses: number[][] }>`
    select lines.*, ${byResource ? sql`(select name from usage_periods where id = last_id)` : sql`null`} as name
    from (
      select ${key}, max(last_id) as last_id, array_agg(array[book, amount, units]::float8[]) as uses
      from (
        select used.client_id, ${byProject ? sql`used.project_id` : sql`0`} as project_id,
          ${byResource ? sql`used.resource_id::text` : sql`''`} as resource_id, spans.day, used.type, used.sku,
          used.region_id, spans.book, ${AMOUNT} as amount, max(used.id) as last_id,
          sum(${unitsOfCut(began, over)})::bigint as units
        from ${tableOf(spans)} as spans
        join usage_periods as used on used.client_id = spans.client_id and ${began} < ${over}
        where used.client_id = any(${[...new Set(spans.map(({ clientId }) => clientId))]}::bigint[])
          and ${matches(wanted)}
        group by 1, 2, 3, 4, 5, 6, 7, 8, 9
      ) as amounts
      where ${after ? sql`(${key}) > ${ownPlaceOf(after)}` : sql`true`}
      group by ${key} order by ${key} limit ${limit}
    ) as lines order by ${key}`.execute(db);
  return rows.map((row) => ({
    ...row,
    uses: row.uses.map(([book = 0, amount = 0, units = 0]) => ({ book, amount, units })),
  }));
}

const ownPlaceOf = ({ client_id, project_id, resource_id, day, type, sku, region_id }: LineKey) =>
  sql`(${client_id}::bigint, ${project_id}::bigint, ${resource_id}::text, ${day}::text, ${type}::text, ${sku}::text,
    ${region_id}::bigint)`;

function tableOf(spans: readonly Span[]): RawBuilder<unknown> {
  const times = (of: 'from' | 'to') => spans.map((span) => span[of].toISOString());
  return sql`(
    select * from unnest(${spans.map(({ clientId }) => clientId)}::bigint[], ${times('from')}::timestamptz[],
      ${times('to')}::timestamptz[], ${spans.map(({ book }) => book)}::int[], ${spans.map(({ day }) => day)}::text[]
    ) as span (client_id, begun, until, book, day))`;
}
