import { type Kysely, sql } from 'kysely';

/** Records of clients' requests: who changed what, and answers to repeat. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // No foreign keys: an action outlives its account, project and token.
  await sql`
    create table user_actions (
      id bigint generated always as identity primary key,
      client_id bigint not null,
      user_id bigint not null,
      token_id bigint,
      request_id text not null,
      operation text not null,
      method text not null,
      path text not null,
      project_id bigint,
      region_id bigint,
      task_id uuid,
      source_user_ip text not null,
      user_agent text,
      outcome text not null check (outcome in ('accepted', 'refused', 'failed')),
      status integer not null,
      "timestamp" timestamptz not null
    )`.execute(db);
  await sql`create index user_actions_by_time on user_actions (client_id, "timestamp" desc, id desc)`.execute(db);
  await sql`create index user_actions_by_project on user_actions (client_id, project_id, "timestamp" desc, id desc)`.execute(
    db,
  );
  await sql`create index user_actions_by_request on user_actions (client_id, request_id)`.execute(db);
  await sql`
    create table idempotency_keys (
      client_id bigint not null,
      user_id bigint not null,
      key text not null,
      fingerprint bytea not null,
      request_id text not null,
      -- Both null: the answer is not known, or may not be given twice.
      status integer,
      body text,
      expires_at timestamptz not null,
      primary key (client_id, user_id, key)
    )`.execute(db);
  await sql`create index idempotency_keys_by_expiry on idempotency_keys (expires_at)`.execute(db);
}
