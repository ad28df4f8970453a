import { type Kysely, sql } from 'kysely';
import { createIndexConcurrently } from './migration.ts';

/**
 * The log of requests becomes an audit log: with the event that tells of a change, commands of the operator and
 * refused credentials. A chain of hashes over its rows shows what was changed later. Each statement may run again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table user_actions
      -- Lists ask for all that begin alike.
      add column if not exists event_type text collate "C",
      add column if not exists subject text,
      -- Null for a request that tried to change something. Commands have user 0, wrong credentials client 0.
      add column if not exists origin text,
      add column if not exists reason text,
      -- How often, if there is one row for all.
      add column if not exists attempts integer`.execute(db);
  // As for events: rows are sealed in the order of ids, once nobody can write a smaller one any more. A transaction
  // needs its number before it takes an id.
  await sql`
    create or replace function next_user_action_id() returns bigint language plpgsql as $$
    begin
      perform pg_current_xact_id();
      return nextval('user_actions_id');
    end $$`.execute(db);
  await sql`alter table user_actions alter column id set default next_user_action_id()`.execute(db);
  await sql`
    create table if not exists audit_seals (
      number bigint constraint audit_seals_pkey primary key,
      -- The last row, and how many there are since the seal before.
      last_id bigint not null,
      records integer not null,
      -- The times of the oldest and the newest row.
      first_at timestamptz not null,
      last_at timestamptz not null,
      -- Of these rows, and of everything up to here.
      digest bytea not null,
      hash bytea not null,
      sealed_at timestamptz not null
    )`.execute(db);
  // What was there before is not sealed.
  await sql`
    insert into audit_seals
    select 0, case when is_called then last_value else last_value - 1 end, 0, now(), now(), decode(repeat('00', 32), 'hex'), decode(repeat('00', 32), 'hex'), now()
    from user_actions_id on conflict do nothing`.execute(db);
  // One row: what retention has removed.
  await sql`create table if not exists audit_retention (removed_before timestamptz)`.execute(db);
  await sql`insert into audit_retention select null where not exists (select from audit_retention)`.execute(
    db,
  );
  for (const [name, columns] of INDEXES) await indexQuarters(db, `user_actions_by_${name}`, columns);
}

const INDEXES = [
  ['moment', '("timestamp" desc, id desc)'],
  ['user', '(user_id, "timestamp" desc, id desc)'],
  ['token', '(token_id, "timestamp" desc, id desc) where token_id is not null'],
  ['address', '(source_user_ip, "timestamp" desc, id desc)'],
  ['type', '(client_id, event_type, "timestamp" desc, id desc) where event_type is not null'],
  ['event', '(event_type, "timestamp" desc, id desc) where event_type is not null'],
  ['subject', '(subject, "timestamp" desc, id desc) where subject is not null'],
  ['refusal_of_client', `(client_id, outcome, "timestamp" desc, id desc) where outcome <> 'accepted'`],
  ['refusal', `(outcome, "timestamp" desc, id desc) where outcome <> 'accepted'`],
] as const;

/** PostgreSQL builds no index on a partitioned table while others write, but on each of its partitions. */
async function indexQuarters(db: Kysely<unknown>, name: string, columns: string): Promise<void> {
  await sql`
    -- There are no rows in the table itself.
    -- squawk-ignore require-concurrent-index-creation
    create index if not exists ${sql.ref(name)} on only user_actions ${sql.raw(columns)}`.execute(db);
  const { rows } = await sql<{ quarter: string }>`
    select inhrelid::regclass::text as quarter from pg_inherits where inhparent = 'user_actions'::regclass
      and not exists (
        select from pg_inherits as attached join pg_index on indexrelid = attached.inhrelid
        where attached.inhparent = to_regclass(${name}) and indrelid = pg_inherits.inhrelid)`.execute(db);
  for (const { quarter } of rows) {
    const own = name.replace('user_actions', quarter);
    await createIndexConcurrently(db, own, `${quarter} ${columns}`);
    await sql`alter index ${sql.ref(name)} attach partition ${sql.ref(own)}`.execute(db);
  }
}
