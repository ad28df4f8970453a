import { type RawBuilder, sql } from 'kysely';
import type { Sql } from '../../../../db/database.ts';
import type { TimedUse } from '../costing.ts';
import type { UsedType } from '../schema.ts';

/** The accounts whose use a caller may see: all, or its own and those of its reseller. */
export type Sight = { all: true } | { all: false; clientId: number; resellerId: number | null };

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
  /** The number of the prices. */
  book: number;
  /** Empty if days have no lines of their own. */
  day: string;
}

/** What has a line: also the place of a line among all. What has no lines of its own is 0 or empty. */
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

const seenBy = (sight: Sight): RawBuilder<unknown> =>
  sight.all ? sql`true` : sql`(clients.id = ${sight.clientId} or clients.reseller_id = ${sight.resellerId})`;

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
      select ${key}, max(last_id) as last_id, array_agg(array[book, amount, seconds]::float8[]) as uses
      from (
        select used.client_id, ${byProject ? sql`used.project_id` : sql`0`} as project_id,
          ${byResource ? sql`used.resource_id::text` : sql`''`} as resource_id, spans.day, used.type, used.sku,
          used.region_id, spans.book, used.amount, max(used.id) as last_id,
          sum(extract(epoch from ${over} - ${began}))::bigint as seconds
        from ${tableOf(spans)} as spans
        join usage_periods as used on used.client_id = spans.client_id and ${began} < ${over}
        where used.client_id = any(${[...new Set(spans.map(({ clientId }) => clientId))]}::bigint[])
          and ${matches(wanted)}
        group by 1, 2, 3, 4, 5, 6, 7, 8, 9
      ) as amounts
      where ${after ? sql`(${key}) > ${placeOf(after)}` : sql`true`}
      group by ${key} order by ${key} limit ${limit}
    ) as lines order by ${key}`.execute(db);
  return rows.map((row) => ({
    ...row,
    uses: row.uses.map(([book = 0, amount = 0, seconds = 0]) => ({ book, amount, seconds })),
  }));
}

const placeOf = ({ client_id, project_id, resource_id, day, type, sku, region_id }: LineKey) =>
  sql`(${client_id}::bigint, ${project_id}::bigint, ${resource_id}::text, ${day}::text, ${type}::text, ${sku}::text,
    ${region_id}::bigint)`;

function tableOf(spans: readonly Span[]): RawBuilder<unknown> {
  const times = (of: 'from' | 'to') => spans.map((span) => span[of].toISOString());
  return sql`(
    select * from unnest(${spans.map(({ clientId }) => clientId)}::bigint[], ${times('from')}::timestamptz[],
      ${times('to')}::timestamptz[], ${spans.map(({ book }) => book)}::int[], ${spans.map(({ day }) => day)}::text[]
    ) as span (client_id, begun, until, book, day))`;
}
