import { type Kysely, sql } from 'kysely';

/** Profiles of DDoS protection. One of them protects an address as long as the project has it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table ddos_profiles (
      id bigint generated always as identity constraint ddos_profiles_pkey primary key,
      -- By which the infrastructure knows it.
      want_id uuid not null constraint ddos_profiles_want unique,
      project_id bigint not null constraint ddos_profiles_project references projects,
      region_id bigint not null,
      subnet_id uuid not null,
      address inet not null,
      template_id bigint not null,
      fields jsonb not null,
      active boolean not null,
      bgp boolean not null,
      status text not null,
      error_description text not null default '',
      task_id uuid,
      constraint ddos_profiles_once unique (subnet_id, address),
      -- Checked at the end: who gives an address back removes its profile in the same transaction.
      constraint ddos_profiles_address foreign key (subnet_id, address) references ip_assignments
        deferrable initially deferred
    )`.execute(db);
  await sql`create index ddos_profiles_of_project on ddos_profiles (project_id, region_id, id)`.execute(db);
}
