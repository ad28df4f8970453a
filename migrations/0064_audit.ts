import { type Kysely, sql } from 'kysely';

/**
 * The log of requests becomes an audit log: with the event that tells of a change, commands of the operator and
 * refused credentials. A chain of hashes over its rows shows what was changed later. The filters of its list are
 * served by the indexes of the next two migrations.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table user_actions
      -- Lists ask for all that begin alike.
      add column event_type text collate "C",
      add column subject text,
      -- Null for a request that tried to change something. Commands have user 0, wrong credentials client 0.
      add column origin text,
      add column reason text,
      -- How often, if there is one row for all.
      add column attempts integer`.execute(db);
  // As for events: rows are sealed in the order of ids, once nobody can write a smaller one any more. A transaction
  // needs its number before it takes an id.
  await sql`
    create function next_user_action_id() returns bigint language plpgsql as $$
    begin
      perform pg_current_xact_id();
      return nextval('user_actions_id');
    end $$`.execute(db);
  await sql`alter table user_actions alter column id set default next_user_action_id()`.execute(db);
  await sql`
    create table audit_seals (
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
    from user_actions_id`.execute(db);
  // One row: what retention has removed.
  await sql`create table audit_retention (removed_before timestamptz)`.execute(db);
  await sql`insert into audit_retention select null `.execute(db);
}
