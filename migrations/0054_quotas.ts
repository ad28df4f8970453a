import { type Kysely, sql } from 'kysely';

/** Limits that go before those of the catalogue, and what clients ask for. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Region 0 stands for quotas that belong to no region.
  await sql`
    create table quota_limits (
      client_id bigint not null constraint quota_limits_client references clients,
      region_id bigint not null,
      attribute text not null,
      most bigint not null constraint quota_limits_most check (most >= 0),
      constraint quota_limits_pkey primary key (client_id, region_id, attribute)
    )`.execute(db);
  await sql`
    create table quota_thresholds (
      client_id bigint constraint quota_thresholds_pkey primary key
        constraint quota_thresholds_client references clients,
      threshold integer not null constraint quota_thresholds_percent check (threshold between 60 and 100)
    )`.execute(db);
  await sql`
    create table quota_requests (
      id bigint generated always as identity constraint quota_requests_pkey primary key,
      client_id bigint not null constraint quota_requests_client references clients,
      description text not null,
      requested_limits jsonb not null,
      status text not null constraint quota_requests_status check (status in ('in progress', 'done', 'rejected')),
      created_at timestamptz not null,
      updated_at timestamptz not null,
      revision bigint not null default 1
    )`.execute(db);
  await sql`
    create trigger raise_revision before update on quota_requests
      for each row execute function raise_revision()`.execute(db);
  // A client's limits have the version of the client.
  await sql`
    create trigger raise_revision_of_clients after insert or update or delete on quota_limits
      for each row execute function raise_revision_of_whole('clients', 'client_id')`.execute(db);
  await sql`create index quota_requests_of_client on quota_requests (client_id, id)`.execute(db);
}
