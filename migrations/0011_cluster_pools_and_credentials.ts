import { type Kysely, sql } from 'kysely';

/** Pools that are made and deleted individually, and the credentials for connecting to a cluster. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table kubernetes_pools
      add column pending text check (pending in ('Provisioning', 'Deleting'))`.execute(db);
  await sql`
    create table kubernetes_credentials (
      cluster_id uuid primary key references kubernetes_clusters on delete cascade,
      ca_certificate text not null,
      ca_key text not null,
      client_certificate text not null,
      client_key text not null,
      created_at timestamptz not null,
      expires_at timestamptz not null check (expires_at > created_at)
    )`.execute(db);
}
