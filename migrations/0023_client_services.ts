import { type Kysely, sql } from 'kysely';

/**
 * Services of single accounts, status changes of accounts, and addresses from which users logged in
 * successfully.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table client_services (
      client_id bigint not null constraint client_services_client_id_fkey references clients,
      service text not null constraint client_services_service_check check (service in ('CLOUD', 'STREAMING')),
      status text not null constraint client_services_status_check
        check (status in ('new', 'trial', 'trialend', 'active', 'paused', 'activating', 'deleted')),
      previous_status text not null,
      enabled boolean not null,
      changed_at timestamptz not null,
      constraint client_services_pkey primary key (client_id, service)
    )`.execute(db);
  await sql`
    create table client_status_changes (
      id bigint generated always as identity primary key,
      client_id bigint not null constraint client_status_changes_client_id_fkey references clients,
      old_status text not null,
      new_status text not null,
      changed_at timestamptz not null
    )`.execute(db);
  await sql`create index client_status_changes_by_client on client_status_changes (client_id, id desc)`.execute(db);
  await sql`
    create table known_logins (
      -- A hash of the user's name and the network.
      key text primary key,
      until timestamptz not null
    )`.execute(db);
  await sql`create index known_logins_by_end on known_logins (until)`.execute(db);
}
