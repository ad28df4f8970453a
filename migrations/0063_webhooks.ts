import { type Kysely, sql } from 'kysely';

/** Where events are sent, and what has to be sent. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // How far those have read who must miss nothing, however long they are away.
  await sql`
    create table event_readers (
      name text not null constraint event_readers_pkey primary key,
      position bigint not null,
      -- Whether anybody wants what it reads.
      active boolean not null
    )`.execute(db);
  await sql`
    create table webhooks (
      id uuid not null constraint webhooks_pkey primary key,
      client_id bigint not null constraint webhooks_client references clients,
      created_by bigint not null constraint webhooks_maker references users,
      all_accounts boolean not null,
      url text not null,
      types text[] not null,
      description text not null,
      -- Encrypted; null if nobody can decrypt it any more.
      secret text,
      previous_secret text,
      previous_until timestamptz,
      enabled boolean not null,
      disabled_reason text,
      -- Earlier events are not sent.
      after_position bigint not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      revision bigint not null default 1
    )`.execute(db);
  await sql`create index webhooks_of_client on webhooks (client_id, id)`.execute(db);
  // New keys for the same secrets are no new version.
  await sql`
    create trigger raise_revision
      before update of url, types, description, enabled, disabled_reason, previous_until on webhooks
      for each row execute function raise_revision()`.execute(db);
  // Apart from the webhook itself, since it changes with every attempt. Its row is locked by whoever changes the
  // deliveries of the webhook.
  await sql`
    create table webhook_sending (
      webhook_id uuid not null constraint webhook_sending_pkey primary key
        constraint webhook_sending_webhook references webhooks on delete cascade,
      client_id bigint not null,
      failures integer not null default 0,
      failing_since timestamptz,
      -- When there may be something to send; null if not before something happens.
      next_at timestamptz,
      taken_at timestamptz not null default now()
    )`.execute(db);
  await sql`
    create index webhook_sending_next on webhook_sending (next_at) where next_at is not null`.execute(db);
  await createDeliveries(db);
}

async function createDeliveries(db: Kysely<unknown>): Promise<void> {
  // No reference to the webhook: one that is deleted need not wait for its deliveries.
  await sql`
    create table webhook_deliveries (
      id bigint generated always as identity constraint webhook_deliveries_pkey primary key,
      webhook_id uuid not null,
      client_id bigint not null,
      event_id uuid not null,
      type text not null,
      subject text not null,
      body text not null,
      -- Whether later events of the subject wait for it.
      in_line boolean not null,
      state text not null constraint webhook_deliveries_state check (state in ('pending', 'delivered', 'failed')),
      attempts integer not null default 0,
      -- Null while it waits for another of its subject, and when it has ended.
      due_at timestamptz,
      expires_at timestamptz not null,
      worker_id uuid,
      created_at timestamptz not null,
      attempted_at timestamptz,
      ended_at timestamptz,
      status integer,
      fault text,
      answer text,
      constraint webhook_deliveries_once unique (webhook_id, event_id)
    )`.execute(db);
  await sql`create index webhook_deliveries_of_webhook on webhook_deliveries (webhook_id, id)`.execute(db);
  await sql`
    create index webhook_deliveries_by_state on webhook_deliveries (webhook_id, state, id)`.execute(db);
  await sql`
    create index webhook_deliveries_due on webhook_deliveries (webhook_id, due_at, id)
      where due_at is not null and worker_id is null`.execute(db);
  await sql`
    create index webhook_deliveries_line on webhook_deliveries (webhook_id, subject, id)
      where state = 'pending' and in_line`.execute(db);
  await sql`
    create index webhook_deliveries_claimed on webhook_deliveries (worker_id) where worker_id is not null`.execute(db);
  await sql`
    create index webhook_deliveries_expiring on webhook_deliveries (expires_at) where state = 'pending'`.execute(db);
}
