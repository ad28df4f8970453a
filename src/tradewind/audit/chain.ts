import { sql } from 'kysely';
import type { Sql } from '../../db/database.ts';

/** One seal at a time, whichever process makes it. */
const LOCK = sql`hashtextextended('tradewind audit seals', 0)`;

/** Everything of a record that never changes, in a form that never changes. New columns get a new form. */
const DIGEST = sql`sha256(convert_to(jsonb_build_array(1, record.id, client_id, user_id, token_id, request_id, operation,
  method, path, project_id, region_id, task_id, source_user_ip, user_agent, outcome, status,
  (extract(epoch from "timestamp") * 1000000)::bigint, api_group, action_type, resource_types, resource_ids,
  resource_names, event_type, subject, origin, reason, attempts)::text, 'UTF8'))`;
const DIGEST_OF_ALL = sql`sha256(coalesce(string_agg(${DIGEST}, ''::bytea order by record.id), ''))`;

const microseconds = (column: string) => sql`int8send((extract(epoch from ${sql.ref(column)}) * 1000000)::bigint)`;

/** Includes the hash of the seal before, and so everything up to there. */
const hashOf = (seal: string) => sql`sha256(${sql.ref(`${seal}.previous`)}
  || int8send(${sql.ref(`${seal}.number`)}) || int8send(${sql.ref(`${seal}.last_id`)})
  || int4send(${sql.ref(`${seal}.records`)}) || ${sql.ref(`${seal}.digest`)}
  || case ${sql.ref(`${seal}.form`)} when 1 then '' else ${microseconds(`${seal}.first_at`)} || ${microseconds(`${seal}.last_at`)} end)`;

/** No record has a later number, unless somebody has forged it: the chain would end with it. */
const NEWEST = sql`(select last_value from user_actions_id)`;

export async function newestRecord(db: Sql): Promise<number> {
  const { rows } = await sql<{
    id: number | null;
  }>`select max(id) as id from user_actions where id <= ${NEWEST}`.execute(db);
  return rows[0]?.id ?? 0;
}

/** Returns for how many seconds the oldest record has waited for its seal. */
export async function unsealedSeconds(db: Sql): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select extract(epoch from now() - "timestamp")::float8 as seconds from user_actions
    where id > coalesce((select last_id from audit_seals order by number desc limit 1), 0)
    order by id limit 1`.execute(db);
  return Math.max(0, rows[0]?.seconds ?? 0);
}

/** Returns false if another transaction makes a seal. */
export async function lockSeals(db: Sql): Promise<boolean> {
  const { rows } = await sql<{ got: boolean }>`select pg_try_advisory_xact_lock(${LOCK}) as got`.execute(db);
  return rows[0]?.got === true;
}

/** Seals the next records up to that one, in their order. Returns how many. */
export async function sealNext(db: Sql, { upTo, limit, now }: { upTo: number; limit: number; now: Date }) {
  const { rows } = await sql<{ records: number }>`
    with last as materialized (
      select number, last_id, hash from audit_seals order by number desc limit 1
    ), record as materialized (
      select * from user_actions where id > (select last_id from last) and id <= ${upTo} order by id limit ${limit}
    ), summed as (
      select count(*)::integer as records, max(id) as last_id, min("timestamp") as first_at,
        max("timestamp") as last_at, ${DIGEST_OF_ALL} as digest
      from record
    ), seal as (
      select last.number + 1 as number, 2 as form, last.hash as previous, summed.* from last, summed
      where summed.records > 0
    )
    insert into audit_seals (number, form, previous, last_id, records, first_at, last_at, digest, hash, sealed_at)
    select number, form, previous, last_id, records, first_at, last_at, digest, ${hashOf('seal')}, ${now}
    from seal returning records`.execute(db);
  return rows[0]?.records ?? 0;
}

export interface SealCheck {
  number: number;
  hash: Buffer;
  first_id: number;
  last_id: number;
  records: number;
  first_at: Date;
  last_at: Date;
  found: number;
  is_same: boolean;
  /** Whether the hash follows from the seal before, and that one is there. */
  is_linked: boolean;
}

/** Compares the next seals after a number with their records. The first that is kept has nothing to be compared with. */
export async function checkSeals(db: Sql, after: number, limit: number): Promise<SealCheck[]> {
  const { rows } = await sql<SealCheck>`
    select seal.number, seal.hash, before.last_id + 1 as first_id, seal.last_id, seal.records, seal.first_at,
      seal.last_at, now.found, now.found = seal.records and now.digest = seal.digest as is_same,
      coalesce(seal.hash = ${hashOf('seal')} and seal.previous = before.hash
        and seal.number = before.number + 1, false) as is_linked
    from audit_seals as seal
    join lateral (
      select * from audit_seals as each where each.number < seal.number order by each.number desc limit 1
    ) as before on true
    join lateral (
      select count(*)::integer as found, ${DIGEST_OF_ALL} as digest
      from user_actions as record where record.id > before.last_id and record.id <= seal.last_id
    ) as now on true
    where seal.number > ${after} order by seal.number limit ${limit}`.execute(db);
  return rows;
}

export interface Chain {
  /** The first seal that is kept. `is_whole`: its hash is that of what it says. */
  anchor: { number: number; hash: Buffer; last_at: Date; is_whole: boolean } | undefined;
  /** Records after the last seal. */
  unsealed: number;
  /** Records from before the first of all seals, which have none. */
  unsealable: number;
  /** Numbers of records that nobody can have written: outside of those that the chain and the log have come to. */
  impossible: number[];
  /** Records from before that time are no longer kept. */
  removedBefore: Date | null;
  /** By the database's clock. */
  now: Date;
}

/** How long a record may be written after its number was taken, and how many impossible ones are named. */
const LATE = sql`interval '1 hour'`;
const NAMED = 20;

export async function readChain(db: Sql): Promise<Chain> {
  const anchor = await sql<NonNullable<Chain['anchor']>>`
    select number, hash, last_at, coalesce(hash = ${hashOf('audit_seals')}, false) as is_whole
    from audit_seals order by number limit 1`.execute(db);
  const { rows } = await sql<Omit<Chain, 'anchor' | 'impossible'> & { impossible: number[] | null }>`
    with first as (select number, last_id, sealed_at from audit_seals order by number limit 1),
      early as (
        select id, first.number = 0 and id > 0 and "timestamp" < first.sealed_at + ${LATE} as is_old
        from user_actions, first where id <= first.last_id
      ), outside as (
        select id from early where not is_old union all select id from user_actions where id > ${NEWEST}
      )
    select (select count(*) from user_actions
        where id > (select last_id from audit_seals order by number desc limit 1)) as unsealed,
      (select count(*) from early where is_old) as unsealable,
      (select array_agg(id) from (select id from outside order by id limit ${NAMED}) as named) as impossible,
      (select removed_before from audit_retention) as "removedBefore", now() as now`.execute(db);
  const [found] = rows;
  if (!found) throw new Error('A query without a table has one row');
  return { ...found, anchor: anchor.rows[0], impossible: (found.impossible ?? []).map(Number) };
}

/** Notes that records from before that time are no longer kept. */
export async function noteRemoval(db: Sql, before: Date): Promise<void> {
  await sql`
    update audit_retention set removed_before = ${before}
    where removed_before is null or removed_before < ${before}`.execute(db);
}

/**
 * Removes the seals whose records are no longer kept, but for the last of them: the chain begins with it. Whatever is
 * noted about retention, a seal stays for as long as there is a record of it, or of an earlier one but the first: records up
 * to the end of that keep no seal.
 */
export async function removeSeals(db: Sql): Promise<void> {
  await sql`
    with oldest as (
      select min(id) as id from user_actions where id > (select last_id from audit_seals order by number limit 1)
    )
    delete from audit_seals where number < (
      select max(number) from audit_seals
      where last_at < (select removed_before from audit_retention)
        and last_id < coalesce((select id from oldest), last_id + 1))`.execute(db);
}
