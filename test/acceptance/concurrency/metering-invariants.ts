import type pg from 'pg';

/** Queries for what metering must never say, over every table that is metered, future ones included. */
export async function meteringNever(pool: pg.Pool): Promise<Record<string, string>> {
  const { rows } = await pool.query<{ name: string }>(
    `select tgrelid::regclass::text as name from pg_trigger join pg_proc on pg_proc.oid = tgfoid where proname = 'meter'`,
  );
  if (rows.length < 9) throw new Error('The metered tables were not found');
  const uses = rows.map(
    ({ name }) =>
      `select use.resource_id, use.type, use.sku, use.amount, use.name, use.project_id, use.region_id from ${name} as one
       cross join lateral usage_of(one) as use where use.amount > 0 and use.resource_id is not null`,
  );
  return {
    'resources whose use is metered otherwise than it is': `
      with present as (${uses.join(' union all ')}), open as (
        select resource_id, type, sku, amount, name, project_id, region_id from usage_periods where ended_at is null
      )
      (table present except table open) union all (table open except table present)`,
    'times of one resource that overlap': `
      select one.resource_id, one.started_at, other.started_at from usage_periods one join usage_periods other using (resource_id)
      where one.id < other.id and tstzrange(one.started_at, one.ended_at) && tstzrange(other.started_at, other.ended_at)`,
  };
}
