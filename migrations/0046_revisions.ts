import { type Kysely, sql } from 'kysely';

/** What clients can change at a version. Security groups have had a revision number before. */
const VERSIONED = [
  'clients file_shares floating_ips images instances kubernetes_clusters kubernetes_pools networks notification_settings',
  'ports projects snapshots ssh_keys subnets users volumes',
].flatMap((line) => line.split(' '));

/**
 * Parts that are shown with a whole, and which of their changes count. Their writers have locked the whole before, so
 * nobody deadlocks. Writers of the addresses and security groups of ports have not, so those don't count.
 */
const PARTS = [
  ['kubernetes_pools', 'insert or update or delete', 'kubernetes_clusters', 'cluster_id'],
  ['subnets', 'insert or delete', 'networks', 'network_id'],
  ['ports', 'insert or update of instance_id or delete', 'instances', 'instance_id'],
  ['volume_attachments', 'insert or update or delete', 'volumes', 'volume_id'],
  ['volume_attachments', 'insert or update or delete', 'instances', 'instance_id'],
  ['client_users', 'insert or update or delete', 'users', 'user_id'],
] as const;

/**
 * Every change of a resource or of one of its parts raises its revision, whichever release makes it. The version was
 * the number of the transaction that wrote the row: parts didn't change it, and a restored backup had other numbers.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function raise_revision() returns trigger language plpgsql as $$
    begin
      new.revision := old.revision + 1;
      return new;
    end $$`.execute(db);
  // The trigger names the table of the whole and the column that refers to it. The whole's own trigger counts.
  await sql`
    create function raise_revision_of_whole() returns trigger language plpgsql as $$
    declare
      raise_it constant text := format('update %I set revision = revision where id = ($1).%I', tg_argv[0], tg_argv[1]);
    begin
      if tg_op <> 'DELETE' then execute raise_it using new; end if;
      if tg_op = 'DELETE' or (tg_op = 'UPDATE' and to_jsonb(old) -> tg_argv[1] <> to_jsonb(new) -> tg_argv[1]) then
        execute raise_it using old;
      end if;
      return null;
    end $$`.execute(db);
  for (const table of VERSIONED) {
    await sql`alter table ${sql.id(table)} add column revision bigint not null default 1`.execute(db);
    await sql`
      create trigger raise_revision before update on ${sql.id(table)}
        for each row execute function raise_revision()`.execute(db);
  }
  for (const [part, changes, whole, column] of PARTS) {
    await sql`
      create trigger ${sql.id(`raise_revision_of_${whole}`)} after ${sql.raw(changes)} on ${sql.id(part)}
        for each row execute function raise_revision_of_whole(${sql.lit(whole)}, ${sql.lit(column)})`.execute(db);
  }
}
