import { type Kysely, sql } from 'kysely';

/** Security groups, their rules, and the ports that use them (the ports come with the instances). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table security_groups (
      id uuid primary key,
      project_id bigint not null references projects,
      region_id bigint not null,
      name text not null,
      description text not null,
      is_default boolean not null,
      revision_number integer not null default 1,
      tags jsonb not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      constraint security_groups_name unique (project_id, region_id, name)
    )`.execute(db);
  await sql`
    create unique index security_groups_default on security_groups (project_id, region_id) where is_default`.execute(
    db,
  );
  await sql`
    create index security_groups_by_age on security_groups (project_id, region_id, created_at desc, id desc)`.execute(
    db,
  );
  await sql`create index security_groups_by_tag on security_groups using gin (tags)`.execute(db);
  await sql`
    create table security_group_rules (
      id uuid primary key,
      security_group_id uuid not null references security_groups on delete cascade,
      direction text not null check (direction in ('ingress', 'egress')),
      ethertype text not null check (ethertype in ('IPv4', 'IPv6')),
      protocol text,
      port_range_min integer check (port_range_min between 0 and 65535),
      port_range_max integer check (port_range_max between 0 and 65535),
      remote_ip_prefix text,
      remote_group_id uuid,
      description text not null,
      revision_number integer not null default 0,
      duplicate_key text not null,
      position integer not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      constraint security_group_rules_remote_group foreign key (remote_group_id) references security_groups,
      constraint security_group_rules_unique unique (security_group_id, duplicate_key)
    )`.execute(db);
  await sql`
    create index security_group_rules_by_remote_group on security_group_rules (remote_group_id)
      where remote_group_id is not null`.execute(db);
  await sql`
    create table port_security_groups (
      port_id uuid not null,
      security_group_id uuid not null references security_groups,
      primary key (port_id, security_group_id)
    )`.execute(db);
  await sql`create index port_security_groups_by_group on port_security_groups (security_group_id)`.execute(db);
}
