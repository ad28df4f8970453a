import { type Kysely, sql } from 'kysely';

/**
 * Secrets of clients, such as the certificates of load balancers. What they contain is in `want_secrets`, encrypted.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table secrets (
      id uuid constraint secrets_pkey primary key,
      project_id bigint not null constraint secrets_project references projects,
      region_id bigint not null,
      name text not null,
      secret_type text not null constraint secrets_type
        check (secret_type in ('certificate', 'opaque', 'passphrase', 'private', 'public', 'symmetric')),
      holds text not null constraint secrets_holds check (holds in ('tls', 'certificates', 'bytes')),
      content_type text not null,
      algorithm text,
      bit_length bigint,
      mode text,
      expires_at timestamptz,
      creator_task_id uuid not null,
      task_id uuid,
      created_at timestamptz not null,
      updated_at timestamptz not null
    )`.execute(db);
  await sql`create index secrets_newest on secrets (project_id, region_id, created_at, id)`.execute(db);
  await sql`create index secrets_task on secrets (task_id) where task_id is not null`.execute(db);
  // A secret stays as long as something uses it.
  await sql`
    create table secret_uses (
      secret_id uuid not null constraint secret_uses_secret references secrets,
      user_kind text not null constraint secret_uses_kind check (user_kind in ('listener', 'pool')),
      user_id uuid not null,
      constraint secret_uses_pkey primary key (user_id, secret_id)
    )`.execute(db);
  await sql`create index secret_uses_of_secret on secret_uses (secret_id)`.execute(db);
}
