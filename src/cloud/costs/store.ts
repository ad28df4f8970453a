import { type RawBuilder, sql } from 'kysely';
import type { Sql } from '../../db/database.ts';
import { pageWithCount } from '../../db/page.ts';
import type { Page, PageQuery } from '../../lib/page.ts';
import type { TimedUse } from './costing.ts';
import type { ReportPeriod } from './period.ts';
import type { ReportFilter, ReportOrder } from './schema.ts';
import type { UsedDetails, UsedType } from './tables.ts';

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
  last_name: string | null;
  last_amount: number;
  tags: Record<string, string> | null;
  details: UsedDetails | null;
  /** The instance that has the volume or the address. */
  attached_to_vm: string | null;
}

/**
 * Selects what was used in the period: each time cut to it, and at the changes of prices. The first price book also
 * holds before its time.
 */
function used({ clientId, from, to, now, bookStarts, filter }: Report): RawBuilder<unknown> {
  const over = sql`least(coalesce(ended_at, ${now}::timestamptz), ${to}::timestamptz)`;
  return sql`(
    select periods.*, number - 1 as book, greatest(started_at, valid_from, ${from}) as began,
      least(${over}, valid_until) as over,
      extract(epoch from least(${over}, valid_until) - greatest(started_at, valid_from, ${from}))::bigint as seconds
    from usage_periods as periods
    join (
      select number, case when number = 1 then '-infinity' else valid_from end as valid_from,
        coalesce(lead(valid_from) over (order by number), 'infinity') as valid_until
      from unnest(${bookStarts.map((start) => start.toISOString())}::timestamptz[]) with ordinality as book (valid_from, number)
    ) as books on greatest(started_at, valid_from, ${from}) < least(${over}, valid_until)
    where client_id = ${clientId} and started_at < ${to} and (ended_at is null or ended_at > ${from})
      ${sql.join(
        conditions(filter).map((one) => sql`and ${one}`),
        sql` `,
      )}
  )`;
}

function conditions({ projects, regions, types, schema_filter, tags }: ReportFilter): RawBuilder<unknown>[] {
  const list: RawBuilder<unknown>[] = [];
  if (projects) list.push(sql`project_id = any(${projects}::bigint[])`);
  if (regions) list.push(sql`region_id = any(${regions}::bigint[])`);
  if (types) list.push(sql`type = any(${types}::text[])`);
  if (schema_filter) {
    const { type, field, values } = schema_filter;
    list.push(sql`type = ${type}`, sql`${FIELDS[field] ?? sql`null`} = any(${values}::text[])`);
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
  ip_address: detail('ip_address'),
  last_name: sql`name`,
  last_size: sql`coalesce(details ->> 'size', amount::text)`,
  network_id: detail('network_id'),
  port_id: detail('port_id'),
  source_volume_uuid: detail('source_volume_uuid'),
  subnet_id: detail('subnet_id'),
  type: sql`type`,
  uuid: sql`resource_id::text`,
  volume_type: sql`sku`,
};

const USES = sql<
  TimedUse[]
>`jsonb_agg(jsonb_build_object('book', book, 'amount', amount, 'seconds', seconds))`;

/** Returns what was used of each kind, in a fixed order. */
export async function totalsOf(db: Sql, report: Report): Promise<UsedInTotal[]> {
  const { rows } = await sql<UsedInTotal>`
    select type, sku, region_id, ${USES} as uses from (
      select type, sku, region_id, book, amount, sum(seconds)::bigint as seconds from ${used(report)} as used
      group by type, sku, region_id, book, amount
    ) as amounts
    group by type, sku, region_id order by region_id, type, sku`.execute(db);
  return rows;
}

const ORDERS: Record<string, RawBuilder<unknown>> = {
  billing_value: sql`units`,
  first_seen: sql`first_seen`,
  last_name: sql`last_name`,
  last_seen: sql`last_seen`,
  project: sql`project_id`,
  region: sql`region_id`,
  type: sql`type`,
};

/** Returns a page of what was used of each resource. What changed its kind comes once for each. */
export async function resourcesOf(
  db: Sql,
  report: Report,
  { orders, ...page }: PageQuery & { orders: readonly ReportOrder[] },
): Promise<Page<UsedResource>> {
  const grouped = sql<Omit<UsedResource, 'attached_to_vm'> & { units: number }>`(
    select resource_id, type, sku, project_id, region_id, min(began) as first_seen, max(over) as last_seen,
      sum(amount * seconds) as units, (array_agg(name order by began desc))[1] as last_name,
      (array_agg(amount order by began desc))[1] as last_amount, (array_agg(tags order by began desc))[1] as tags,
      (array_agg(details order by began desc))[1] as details, ${USES} as uses
    from ${used(report)} as used group by resource_id, type, sku, project_id, region_id
  )`;
  let ordered = db
    .selectFrom(grouped.as('used'))
    .selectAll()
    .select(sql<string | null>`${ATTACHED}`.as('attached_to_vm'));
  for (const order of orders) {
    const [field = '', direction] = order.split('.');
    ordered = ordered.orderBy(ORDERS[field] ?? sql`null`, direction === 'desc' ? 'desc' : 'asc');
  }
  return pageWithCount(ordered.orderBy('type').orderBy('resource_id').orderBy('sku'), page);
}
