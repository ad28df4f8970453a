import { type Kysely, sql } from 'kysely';

/** Floating IPs, and ports that are reserved for their address, whether or not an instance uses them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table ports
      add column reserved boolean not null default false,
      add column creator_task_id uuid,
      add check (reserved or instance_id is not null)`.execute(db);
  await sql`
    create index ports_reserved on ports (project_id, region_id, created_at desc, id desc) where reserved`.execute(db);
  await sql`drop index ip_assignments_by_port`.execute(db);
  await sql`alter table ip_assignments add constraint ip_assignments_of_port unique (port_id, address)`.execute(db);
  await sql`
    create table floating_ips (
      id uuid primary key,
      project_id bigint not null references projects,
      region_id bigint not null,
      address inet not null,
      -- The address of a port that it leads to.
      port_id uuid,
      fixed_address inet,
      tags jsonb not null,
      creator_task_id uuid not null,
      task_id uuid,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      check ((port_id is null) = (fixed_address is null)),
      constraint floating_ips_once unique (region_id, address),
      constraint floating_ips_target unique (port_id, fixed_address),
      -- It leads nowhere once the port has lost the address.
      foreign key (port_id, fixed_address) references ip_assignments (port_id, address) on delete set null
    )`.execute(db);
  await sql`
    create index floating_ips_by_age on floating_ips (project_id, region_id, created_at desc, id desc)`.execute(db);
  await sql`create index floating_ips_by_tag on floating_ips using gin (tags)`.execute(db);
  await sql`create index floating_ips_by_task on floating_ips (task_id) where task_id is not null`.execute(db);
  await sql`
    alter table ip_assignments
      add column floating_ip_id uuid unique references floating_ips deferrable initially deferred,
      add check (port_id is null or floating_ip_id is null)`.execute(db);
  await sql`drop index ip_assignments_gateway`.execute(db);
  await sql`
    create unique index ip_assignments_gateway on ip_assignments (subnet_id)
      where port_id is null and floating_ip_id is null`.execute(db);
}
