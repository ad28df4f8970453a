import { type Kysely, sql } from 'kysely';

/** Networks, subnets and their addresses; instances and the ports that connect them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create sequence network_segments as integer maxvalue 16777215`.execute(db);
  await sql`
    create table networks (
      id uuid primary key,
      -- Null: the platform's own, which every project of the region sees.
      project_id bigint references projects,
      region_id bigint not null,
      name text not null,
      type text not null check (type in ('vlan', 'vxlan')),
      mtu integer not null,
      external boolean not null,
      shared boolean not null,
      is_default boolean not null,
      port_security_enabled boolean not null,
      segmentation_id integer,
      tags jsonb not null,
      creator_task_id uuid,
      task_id uuid,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      check (external = (project_id is null))
    )`.execute(db);
  await sql`create unique index networks_default on networks (project_id, region_id) where is_default`.execute(db);
  await sql`create unique index networks_external on networks (region_id) where external`.execute(db);
  await sql`create index networks_by_age on networks (project_id, region_id, created_at desc, id desc)`.execute(db);
  await sql`create index networks_by_tag on networks using gin (tags)`.execute(db);
  await sql`
    create table subnets (
      id uuid primary key,
      network_id uuid not null references networks,
      name text not null,
      cidr cidr not null,
      enable_dhcp boolean not null,
      gateway_ip inet,
      dns_nameservers jsonb not null,
      host_routes jsonb not null,
      -- The addresses that ports may get, the gateway's not among them.
      first_address inet not null,
      last_address inet not null,
      -- No address below this one is free.
      free_from inet not null,
      used_ips bigint not null default 0 check (used_ips >= 0),
      total_ips bigint generated always as (last_address - first_address + 1) stored,
      tags jsonb not null,
      creator_task_id uuid,
      task_id uuid,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      check (first_address <= last_address),
      constraint subnets_cidr unique (network_id, cidr)
    )`.execute(db);
  await sql`create index subnets_by_tag on subnets using gin (tags)`.execute(db);
  await sql`
    create table instances (
      id uuid primary key,
      project_id bigint not null references projects,
      region_id bigint not null,
      name text not null,
      status text not null check (status in ('ACTIVE', 'BUILD', 'DELETED', 'ERROR', 'HARD_REBOOT', 'MIGRATING', 'PASSWORD',
        'PAUSED', 'REBOOT', 'REBUILD', 'RESCUE', 'RESIZE', 'REVERT_RESIZE', 'SHELVED', 'SHELVED_OFFLOADED', 'SHUTOFF',
        'SOFT_DELETED', 'SUSPENDED', 'UNKNOWN', 'VERIFY_RESIZE')),
      vm_state text not null check (vm_state in ('active', 'building', 'deleted', 'error', 'paused', 'rescued', 'resized',
        'shelved', 'shelved_offloaded', 'soft-deleted', 'stopped', 'suspended')),
      task_state text,
      description text,
      flavor_id text not null,
      -- As it was when the instance got it: the catalogue may drop it later.
      flavor jsonb not null,
      ssh_key_name text,
      tags jsonb not null,
      creator_task_id uuid not null,
      task_id uuid,
      created_at timestamptz not null,
      updated_at timestamptz not null
    )`.execute(db);
  for (const [name, columns] of [
    ['instances_by_age', 'created_at desc, id desc'],
    ['instances_by_name', 'name, id'],
    ['instances_by_status', 'status, id'],
    ['instances_by_flavor', 'flavor_id'],
    ['instances_by_change', 'updated_at'],
  ]) {
    await sql`
      create index ${sql.ref(String(name))} on instances (project_id, region_id, ${sql.raw(String(columns))})`.execute(
      db,
    );
  }
  await sql`create index instances_by_tag on instances using gin (tags)`.execute(db);
  await sql`create sequence port_macs maxvalue 1099511627775`.execute(db);
  await sql`
    create table ports (
      id uuid primary key,
      network_id uuid not null references networks,
      -- A platform's network has ports of many projects.
      project_id bigint not null references projects,
      region_id bigint not null,
      instance_id uuid references instances,
      name text not null,
      interface_name text,
      -- The order of an instance's interfaces.
      position integer not null,
      -- Locally administered (the 2 in the first byte) and counted, so that none can come twice.
      mac_address macaddr not null default ('02' || lpad(to_hex(nextval('port_macs')), 10, '0'))::macaddr,
      port_security_enabled boolean not null,
      tags jsonb not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      constraint ports_mac unique (mac_address)
    )`.execute(db);
  await sql`create unique index ports_by_instance on ports (instance_id, position)`.execute(db);
  await sql`create index ports_by_network on ports (network_id)`.execute(db);
  await sql`create index ports_by_age on ports (project_id, region_id, created_at desc, id desc)`.execute(db);
  await sql`
    create table ip_assignments (
      subnet_id uuid not null references subnets,
      address inet not null,
      -- Checked at the commit: an instance's name may be made of an address, so addresses come first.
      port_id uuid not null references ports deferrable initially deferred,
      constraint ip_assignments_once primary key (subnet_id, address)
    )`.execute(db);
  await sql`create index ip_assignments_by_port on ip_assignments (port_id)`.execute(db);
  await sql`
    alter table port_security_groups add constraint port_security_groups_port
      foreign key (port_id) references ports on delete cascade`.execute(db);
  await sql`
    create table simulated_resources (
      id uuid primary key,
      kind text not null,
      ordered_at timestamptz not null,
      removal_ordered_at timestamptz
    )`.execute(db);
}
