import { type RawBuilder, sql } from 'kysely';
import type { Database, Sql } from '../../../db/database.ts';
import type { UsedDetails } from '../../../db/json-columns.ts';
import type { Page, PageQuery } from '../../../lib/page.ts';
import type { TimedUse } from './costing.ts';
import { type ReportPeriod, TRAFFIC_AWAITED_MS } from './period.ts';
import type { ReportFilter, ReportOrder, UsedType } from './schema.ts';

export interface Report extends ReportPeriod {
  clientId: number;
  now: Date;
  /** When each price book came into force, oldest first. */
  bookStarts: readonly Date[];
  filter: ReportFilter;
}

interface Used {
  type: UsedType;
  sku: string;
  region_id: number;
  uses: TimedUse[];
}
export type UsedInTotal = Used;

export interface UsedResource extends Used {
  resource_id: string;
  project_id: number;
  first_seen: Date;
  last_seen: Date;
  /** What it was at last in the time of the report. */
  last: {
    name: string | null;
    amount: number;
    tags: Record<string, string> | null;
    details: UsedDetails | null;
    /** The instance that has the volume or the address now. */
    attached_to_vm: string | null;
  };
}

/**
 * SQL: the seconds of a cut of a period. Of traffic it is the bytes, as if they went evenly over the period: cuts add up to
 * exactly all of it.
 */
export const unitsOfCut = (began: RawBuilder<unknown>, over: RawBuilder<unknown>): RawBuilder<unknown> => {
  const until = (time: RawBuilder<unknown>) =>
    sql`floor(amount * extract(epoch from ${time} - started_at) / extract(epoch from ended_at - started_at))`;
  return sql`case when type = 'egress_traffic' then ${until(over)} - ${until(began)}
    else extract(epoch from ${over} - ${began}) end::bigint`;
};
/** SQL: what the units are of. */
export const AMOUNT = sql`case when type = 'egress_traffic' then 1 else amount end`;

/**
 * Selects what was used in the period: each time cut to it, and at the changes of prices. The first price book also
 * holds before its time. What goes on counts until the second that has begun, as if it ended now.
 */
function used(report: Report): RawBuilder<unknown> {
  const { from, to, now, bookStarts } = report;
  const began = sql`greatest(started_at, valid_from, ${from})`;
  const over = sql`least(coalesce(ended_at, date_trunc('second', ${now}::timestamptz)), ${to}::timestamptz, valid_until)`;
  return sql`(
    select id, type, sku, resource_id, project_id, region_id, number - 1 as book, ${AMOUNT} as amount, ${began} as began,
      ${over} as over, ${unitsOfCut(began, over)} as units
    from usage_periods as periods
    join (
      select number, case when number = 1 then '-infinity' else valid_from end as valid_from,
        coalesce(lead(valid_from) over (order by number), 'infinity') as valid_until
      from unnest(${bookStarts.map((start) => start.toISOString())}::timestamptz[]) with ordinality as book (valid_from, number)
    ) as books on ${began} < ${over}
    where ${sql.join(conditions(report), sql` and `)}
  )`;
}

function conditions(report: Report): RawBuilder<unknown>[] {
  const { projects, regions, types, schema_filter, tags } = report.filter;
  const list = [inTime(report)];
  if (projects) list.push(sql`project_id = any(${projects}::bigint[])`);
  if (regions) list.push(sql`region_id = any(${regions}::bigint[])`);
  if (types) list.push(sql`type = any(${types}::text[])`);
  if (schema_filter) {
    const { type, field, values } = schema_filter;
    const matches = sql`${FIELDS[field] ?? sql`null`} = any(${values}::text[])`;
    list.push(sql`type = ${type}`, field.startsWith('last_') ? lastly(report, type, matches) : matches);
  }
  if (tags) {
    const one = tags.conditions.map(
      ({ key, value, strict = true }) => sql`exists (
        select from jsonb_each_text(coalesce(periods.tags, '{}')) as tag (key, value)
        where (${key ?? null}::text is null or tag.key = ${key ?? null})
          and (${value ?? null}::text is null or case when ${strict} then tag.value = ${value ?? null}
            else position(lower(${value ?? null}) in lower(tag.value)) > 0 end))`,
    );
    list.push(sql`(${sql.join(one, tags.condition_type === 'AND' ? sql` and ` : sql` or `)})`);
  }
  return list;
}

const inTime = ({ clientId, from, to }: Report) =>
  sql`client_id = ${clientId} and started_at < ${to} and (ended_at is null or ended_at > ${from})`;

/** Of resources for which it holds at the end, all of their time counts. */
function lastly(report: Report, type: string, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`resource_id in (
    select resource_id from (
      select distinct on (resource_id) * from usage_periods where ${inTime(report)} and type = ${type}
      order by resource_id, id desc
    ) as last where ${condition})`;
}

const ATTACHED = sql`coalesce(
  (select instance_id from volume_attachments where volume_id = resource_id limit 1),
  (select instance_id from ports where id = (details ->> 'port_id')::uuid),
  (details ->> 'attached_to_vm')::uuid)`;
const detail = (name: string) => sql`details ->> ${sql.lit(name)}`;
/** Fields of filters by their published names. */
const FIELDS: Record<string, RawBuilder<unknown>> = {
  attached_to_vm: sql`${ATTACHED}::text`,
  file_share_type: sql`sku`,
  flavor: sql`sku`,
  instance_name: sql`name`,
  instance_type: sql`case sku when 'virtual' then 'vm' else sku end`,
  ip_address: detail('ip_address'),
  last_name: sql`name`,
  last_size: sql`coalesce(details ->> 'size', amount::text)`,
  network_id: detail('network_id'),
  port_id: detail('port_id'),
  source_volume_uuid: detail('source_volume_uuid'),
  subnet_id: detail('subnet_id'),
  type: sql`type`,
  uuid: sql`resource_id::text`,
  vm_id: detail('attached_to_vm'),
  volume_type: sql`sku`,
};

/** Arrays take half the time of JSON. */
const USES = sql<number[][]>`array_agg(array[book, amount, units]::float8[])`;

const withUses = <Row extends { uses: number[][] }>(row: Row) => ({
  ...row,
  uses: row.uses.map(([book = 0, amount = 0, units = 0]): TimedUse => ({ book, amount, units })),
});

/** Returns what was used of each kind, in a fixed order. */
export async function totalsOf(db: Sql, report: Report): Promise<UsedInTotal[]> {
  const { rows } = await sql<Omit<UsedInTotal, 'uses'> & { uses: number[][] }>`
    select type, sku, region_id, ${USES} as uses from (
      select type, sku, region_id, book, amount, sum(units)::bigint as units from ${used(report)} as used
      group by type, sku, region_id, book, amount
    ) as amounts
    group by type, sku, region_id order by region_id, type, sku`.execute(db);
  return rows.map(withUses);
}

/** Looked up only for what is shown, except for the name if it is the order. */
const LAST = sql<UsedResource['last']>`(
  select jsonb_build_object('name', name, 'amount', amount, 'tags', tags, 'details', details, 'attached_to_vm', ${ATTACHED})
  from usage_periods where id = last_id)`;

const ORDERS: Record<string, RawBuilder<unknown>> = {
  billing_value: sql`quantity`,
  first_seen: sql`first_seen`,
  last_name: sql`(select name from usage_periods where id = last_id)`,
  last_seen: sql`last_seen`,
  project: sql`project_id`,
  region: sql`region_id`,
  type: sql`type`,
};

/**
 * Returns a page of what was used of each resource. What changed its kind comes once for each. Periods of one amount are
 * added up first: a resource may have very many.
 */
export async function resourcesOf(
  db: Sql,
  report: Report,
  { orders, limit = 10, offset = 0 }: PageQuery & { orders: readonly ReportOrder[] },
): Promise<Page<UsedResource>> {
  const kinds = sql`resource_id, type, sku, project_id, region_id`;
  const grouped = sql<Omit<UsedResource, 'last' | 'uses'> & { uses: number[][]; quantity: number; last_id: number }>`(
    select ${kinds}, min(first_seen) as first_seen, max(last_seen) as last_seen, sum(amount * units) as quantity,
      max(last_id) as last_id, ${USES} as uses
    from (
      select ${kinds}, book, amount, min(began) as first_seen, max(over) as last_seen, max(id) as last_id,
        sum(units)::bigint as units
      from ${used(report)} as used group by ${kinds}, book, amount
    ) as amounts group by ${kinds}
  )`;
  const all = db.selectFrom(grouped.as('used'));
  // Counting them by another query would take as long as this one.
  const count = sql<number>`count(*) over ()`;
  let ordered = all.selectAll().select([LAST.as('last'), count.as('count')]);
  for (const order of orders) {
    const [field = '', direction] = order.split('.');
    ordered = ordered.orderBy(ORDERS[field] ?? sql`null`, direction === 'desc' ? 'desc' : 'asc');
  }
  const page = ordered.orderBy('type').orderBy('resource_id').orderBy('sku').limit(limit).offset(offset);
  const rows = (await page.execute()).map(withUses);
  if (rows[0] || offset === 0) return { count: rows[0]?.count ?? 0, rows };
  const past = await all.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  return { count: past.count, rows };
}

/** SQL: whether no more traffic of the time before comes, since it is metered or no longer awaited. */
export const isAllTrafficKnown = (before: RawBuilder<unknown>, now: Date): RawBuilder<boolean> => sql<boolean>`
  (${before} + ${TRAFFIC_AWAITED_MS} * interval '1 millisecond' <= ${now}
    or not exists (select from traffic_meters where metered_until < ${before}))`;

const BATCH = 10_000;

/** SQL: the first month that is still to be invoiced. Null without an issuer. Months are begun in their order. */
const UNBILLED = sql`coalesce(
  (select min(month) || '-01' from billed_months where stage <> 'done')::timestamp,
  (select max(month) || '-01' from billed_months)::timestamp + interval '1 month',
  (select date_trunc('month', min(valid_from) at time zone 'UTC') from issuer_settings)) at time zone 'UTC'`;

/** Deletes usage that ended before that time, unless invoices need it. Returns how many periods. */
export async function deleteOldUsage({ sql: db }: Pick<Database, 'sql'>, before: Date): Promise<number> {
  const { rows } = await sql<{ before: Date }>`select least(${before}::timestamptz, ${UNBILLED}) as before`.execute(db);
  const end = rows[0]?.before ?? before;
  let deleted = 0;
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from usage_periods where id = any(array(
        select id from usage_periods where ended_at < ${end} limit ${BATCH}
      ))`.execute(db);
    deleted += Number(numAffectedRows);
    if (numAffectedRows < BATCH) return deleted;
  }
}
