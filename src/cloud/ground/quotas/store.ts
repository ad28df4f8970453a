import { type RawBuilder, sql } from 'kysely';
import type { Sql, Transaction } from '../../../db/database.ts';
import type { ListedLimits } from '../../../db/json-columns.ts';

/** How much of a quota a client uses, or may use. Region 0 stands for none. */
export interface QuotaNumber {
  region_id: number;
  attribute: string;
  number: number;
}

/** Returns what the client has of each quota. Quotas that are nowhere counted, are: their things are. */
export async function usageOf(db: Sql, clientId: number): Promise<QuotaNumber[]> {
  const { rows } = await sql<QuotaNumber>`
    select region_id, attribute, used as number from quota_usage where client_id = ${clientId}
    union all select region_id, 'laas_topic_count', count(*) from logging_topics
      join projects on projects.id = project_id where client_id = ${clientId} group by region_id
    union all select 0, 'project_count', count(*) from projects where client_id = ${clientId}
    union all select 0, 'keypair_count', count(*) from ssh_keys
      join projects on projects.id = project_id where client_id = ${clientId}`.execute(db);
  return rows;
}

export async function limitsOf(db: Sql, clientId: number): Promise<QuotaNumber[]> {
  return db
    .selectFrom('quota_limits')
    .select(['region_id', 'attribute', 'most as number'])
    .where('client_id', '=', clientId)
    .execute();
}

/** Returns the limits of the lists in force for the client, the narrowest first. */
export async function listedLimits(db: Sql, clientId: number, at: Date): Promise<ListedLimits[]> {
  const of = (rank: number, whose: RawBuilder<unknown>) => sql`(
    select ${sql.lit(rank)} as rank, limits from quota_lists where ${whose} and valid_from <= ${at}
    order by valid_from desc, id desc limit 1)`;
  const { rows } = await sql<{ limits: ListedLimits }>`
    ${of(1, sql`client_id = ${clientId}`)} union all
    ${of(2, sql`reseller_id = (select reseller_id from clients where id = ${clientId})`)} union all
    ${of(3, sql`scope = 'everyone'`)} order by rank`.execute(db);
  return rows.map(({ limits }) => limits);
}

/** Writes own limits of a client; null stands for that of the catalogue. */
export async function changeLimits(
  tx: Transaction,
  clientId: number,
  limits: readonly (Omit<QuotaNumber, 'number'> & { number: number | null })[],
): Promise<void> {
  const given = sql`jsonb_to_recordset(${JSON.stringify(limits)}::jsonb)
    as given (region_id bigint, attribute text, number bigint)`;
  await sql`
    delete from quota_limits using ${given}
    where client_id = ${clientId} and quota_limits.region_id = given.region_id
      and quota_limits.attribute = given.attribute and number is null`.execute(tx.sql);
  await sql`
    insert into quota_limits (client_id, region_id, attribute, most)
    select ${clientId}::bigint, region_id, attribute, number from ${given}
    where number is not null order by region_id, attribute
    on conflict (client_id, region_id, attribute) do update set most = excluded.most`.execute(tx.sql);
}

export async function findThreshold(db: Sql, clientId: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('quota_thresholds')
    .select('threshold')
    .where('client_id', '=', clientId)
    .executeTakeFirst();
  return row?.threshold;
}

export async function setThreshold(tx: Transaction, clientId: number, threshold: number): Promise<void> {
  await tx.sql
    .insertInto('quota_thresholds')
    .values({ client_id: clientId, threshold })
    .onConflict((one) => one.column('client_id').doUpdateSet({ threshold }))
    .execute();
}
