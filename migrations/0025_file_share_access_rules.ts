import { type Kysely, sql } from 'kysely';

/** Who may access a standard file share, as rules that are added and removed individually. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table file_share_access_rules (
      id uuid constraint file_share_access_rules_pkey primary key,
      file_share_id uuid not null
        constraint file_share_access_rules_share references file_shares on delete cascade,
      access_to text not null,
      access_level text not null constraint file_share_access_rules_level check (access_level in ('ro', 'rw')),
      created_at timestamptz not null,
      constraint file_share_access_rules_address unique (file_share_id, access_to)
    )`.execute(db);
  await sql`
    insert into file_share_access_rules (id, file_share_id, access_to, access_level, created_at)
    select gen_random_uuid(), share.id, rule ->> 'ip_address', rule ->> 'access_mode', share.created_at
    from file_shares as share, jsonb_array_elements(share.access) as rule
    on conflict on constraint file_share_access_rules_address do nothing`.execute(db);
  // Processes of the previous release still write this column; a later release drops it.
  await sql`alter table file_shares alter column access set default '[]'`.execute(db);
}
