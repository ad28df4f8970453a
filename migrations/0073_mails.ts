import { type Kysely, sql } from 'kysely';

/** Mails to be sent, what resets a forgotten password, quotas to warn of, and accounts that ask to be deleted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table mails (
      id uuid not null constraint mails_pkey primary key,
      kind text not null,
      receiver text not null,
      -- No reference: what deletes accounts need not know of mails.
      client_id bigint not null,
      -- Encrypted; null once it has ended.
      data jsonb,
      -- While it is kept, there is no other with the same text.
      once text constraint mails_once unique,
      state text not null default 'pending'
        constraint mails_state check (state in ('pending', 'sent', 'failed')),
      attempts integer not null default 0,
      due_at timestamptz,
      expires_at timestamptz not null,
      worker_id uuid,
      created_at timestamptz not null,
      ended_at timestamptz,
      fault text
    )`.execute(db);
  await sql`
    create index mails_due on mails (due_at) where due_at is not null and worker_id is null`.execute(db);
  await sql`create index mails_claimed on mails (worker_id) where worker_id is not null`.execute(db);
  await sql`create index mails_expiring on mails (expires_at) where state = 'pending'`.execute(db);
  await sql`create index mails_ended on mails (ended_at) where ended_at is not null`.execute(db);
  // For the limits of an hour.
  await sql`create index mails_of_receiver on mails (lower(receiver), kind, created_at)`.execute(db);
  await sql`create index mails_of_client on mails (client_id, created_at)`.execute(db);
  await sql`
    create table quota_warnings (
      client_id bigint not null constraint quota_warnings_client references clients,
      region_id bigint not null,
      attribute text not null,
      used bigint not null,
      most bigint not null,
      noted_at timestamptz not null,
      -- Null until the mails are written.
      mailed_at timestamptz,
      constraint quota_warnings_pkey primary key (client_id, region_id, attribute)
    )`.execute(db);
  await sql`create index quota_warnings_new on quota_warnings (noted_at) where mailed_at is null`.execute(db);
  await sql`
    create table password_resets (
      user_id bigint not null constraint password_resets_pkey primary key
        constraint password_resets_user references users on delete cascade,
      secret_hash bytea not null,
      -- When the user asked for it; a later request or password makes it worthless.
      asked_at timestamptz not null,
      expires_at timestamptz not null
    )`.execute(db);
  await sql`
    create table deletion_requests (
      client_id bigint not null constraint deletion_requests_pkey primary key
        constraint deletion_requests_client references clients on delete cascade,
      user_id bigint not null constraint deletion_requests_user references users,
      reason text not null,
      created_at timestamptz not null
    )`.execute(db);
  // For the reference.
  await sql`create index deletion_requests_of_user on deletion_requests (user_id)`.execute(db);
}
