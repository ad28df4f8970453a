import { type Kysely, sql } from 'kysely';

/** Machines may stop while their account is suspended, and billing systems hear of days that are over. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // True for what was stopped so, until somebody else changes it.
  await sql`alter table instances add column stopped_by_suspension boolean`.execute(db);
  // Accounts whose machines are still to stop, or to start again, by the account's status.
  await sql`
    create table suspension_turns (
      client_id bigint constraint suspension_turns_pkey primary key constraint suspension_turns_client references clients,
      -- When to go on. A worker that goes on puts it off, so that another one does if it dies.
      try_at timestamptz not null,
      -- The last machine that was looked at.
      after_id uuid,
      -- How often all machines were looked at.
      attempts integer not null default 0
    )`.execute(db);
  await sql`create index suspension_turns_due on suspension_turns (try_at)`.execute(db);
  await sql`
    create table usage_closings (
      -- There is one row.
      id boolean constraint usage_closings_pkey primary key default true constraint usage_closings_one check (id),
      -- The last day of which accounts were told.
      day text not null,
      -- The account to go on with; null once all were told.
      next_id bigint
    )`.execute(db);
}
