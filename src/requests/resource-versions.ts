import { type Kysely, sql } from 'kysely';
import type { Tables } from '../db/tables.ts';
import { isUuid } from '../lib/ids.ts';
import type { NamedRow, Versioned } from '../lib/versioned.ts';

type Params = Record<string, string | number>;

/**
 * Returns the current version of a resource; undefined if it doesn't exist. `lock` keeps it until the
 * transaction ends.
 */
export async function versionOf(
  db: Kysely<Tables>,
  resource: Versioned,
  params: Params,
  { lock }: { lock: boolean },
): Promise<string | undefined> {
  const { table, uuid, within, field, memberships } = resource;
  if (uuid !== undefined && !isUuid(String(params[uuid]))) return undefined;
  const conditions = conditionsOf(resource, params);
  if (within) {
    const whole = sql.join(conditionsOf(within, params), sql` and `);
    conditions.push(
      sql`${sql.ref(within.column)} in (select id from ${sql.table(within.table)} where ${whole})`,
    );
  }
  if (lock && memberships) {
    await sql`
      select from clients where id in (
        select client_id from ${sql.table(memberships.table)}
         where ${sql.ref(memberships.column)} = ${params[memberships.param]})
      order by id for no key update`.execute(db);
  }
  // Triggers raise it with every change of the row and of its parts.
  const version = sql.ref(field ?? 'revision');
  const { rows } = await sql<{ version: string }>`
    select ${version}::text as version from ${sql.table(table)}
    where ${sql.join(conditions, sql` and `)} ${lock ? sql`for no key update` : sql``}`.execute(db);
  return rows[0]?.version;
}

function conditionsOf({ columns }: NamedRow, params: Params) {
  return Object.entries(columns).map(([param, column]) => sql`${sql.ref(column)} = ${params[param]}`);
}
