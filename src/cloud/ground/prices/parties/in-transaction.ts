import { sql } from 'kysely';
import type { Sql, Transaction } from '../../../../db/database.ts';
import type { BillingProfile, IssuerSettings } from '../../../../db/json-columns.ts';
import { ConflictError } from '../../../../lib/errors.ts';

/** Who issues the invoices of resellers. */
export const PLATFORM = 0;

/** What holds from a time on, until the next of the same does. */
export interface Dated<About> {
  id: number;
  /** The reseller, the platform or the account. */
  of: number;
  from: Date;
  about: About;
}

type Kind = 'issuer' | 'profile';
interface Abouts {
  issuer: IssuerSettings;
  profile: BillingProfile;
}
const TABLES = {
  issuer: { table: 'issuer_settings', of: 'reseller_id', about: 'settings' },
  profile: { table: 'billing_profiles', of: 'client_id', about: 'profile' },
} as const;

export async function partiesBetween<K extends Kind>(
  db: Sql,
  kind: K,
  ids: readonly number[],
  from: Date,
  to: Date | undefined,
): Promise<Dated<Abouts[K]>[]> {
  const { table, of, about } = TABLES[kind];
  const { rows } = await sql<Dated<Abouts[K]>>`
    select id, ${sql.ref(of)} as of, valid_from as "from", ${sql.ref(about)} as about from (
      select *, lead(valid_from) over (partition by ${sql.ref(of)} order by valid_from, id) as next_from
      from ${sql.table(table)}
      where ${sql.ref(of)} = any(${[...ids]}::bigint[]) and ${to ? sql`valid_from < ${to}` : sql`true`}
    ) as parties
    where next_from is null or next_from > ${from}
    order by valid_from, id`.execute(db);
  return rows;
}

/** Returns what holds now. */
export async function partyOf<K extends Kind>(db: Sql, kind: K, id: number): Promise<Dated<Abouts[K]> | undefined> {
  const { table, of, about } = TABLES[kind];
  const { rows } = await sql<Dated<Abouts[K]>>`
    select id, ${sql.ref(of)} as of, valid_from as "from", ${sql.ref(about)} as about from ${sql.table(table)}
    where ${sql.ref(of)} = ${id} order by valid_from desc, id desc limit 1`.execute(db);
  return rows[0];
}

/** Each change divides a report of costs, as price lists do. */
const MOST_IN_A_MONTH = 100;
const MONTH_MS = 31 * 86_400_000;

/**
 * Returns what holds now, if anything does. Nobody else changes it until the transaction ends.
 */
export async function lockParty<K extends Kind>(tx: Transaction, kind: K, id: number) {
  const { table } = TABLES[kind];
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${table} ${id}`}, 0))`.execute(tx.sql);
  return partyOf(tx.sql, kind, id);
}

/** @throws ConflictError for too many changes */
export async function requireFewChanges(tx: Transaction, kind: Kind, id: number): Promise<void> {
  const { table, of } = TABLES[kind];
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(table)}
    where ${sql.ref(of)} = ${id} and valid_from > ${new Date(tx.now.getTime() - MONTH_MS)}`.execute(tx.sql);
  if ((rows[0]?.count ?? 0) < MOST_IN_A_MONTH) return;
  throw new ConflictError(`It was changed ${MOST_IN_A_MONTH} times in the last 31 days, which is the most`);
}

interface Made {
  valid_from: Date;
  created_by: number;
  created_at: Date;
}

export async function insertIssuer(tx: Transaction, resellerId: number, settings: IssuerSettings, made: Made) {
  const row = { reseller_id: resellerId, settings: JSON.stringify(settings), ...made };
  await tx.sql.insertInto('issuer_settings').values(row).execute();
}

export async function insertProfile(tx: Transaction, clientId: number, profile: BillingProfile, made: Made) {
  const row = { client_id: clientId, profile: JSON.stringify(profile), ...made };
  await tx.sql.insertInto('billing_profiles').values(row).execute();
}
