import { type Kysely, sql } from 'kysely';

/** Machines may stop while their account is suspended. */
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
}
