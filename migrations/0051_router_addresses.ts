import { type Kysely, sql } from 'kysely';
import { createIndexConcurrently } from './migration.ts';

/** Routers hold several addresses of an external subnet; only the one kept for the gateway has no holder. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table ip_assignments validate constraint ip_assignments_router`.execute(db);
  await sql`alter table ip_assignments validate constraint ip_assignments_router_only`.execute(db);
  await createIndexConcurrently(
    db,
    'ip_assignments_by_router',
    'ip_assignments (router_id) where router_id is not null',
  );
  await createIndexConcurrently(
    db,
    'ip_assignments_kept_gateway',
    'ip_assignments (subnet_id) where port_id is null and floating_ip_id is null and router_id is null',
    { unique: true },
  );
  const how = sql.raw(db.isTransaction ? '' : 'concurrently');
  await sql`drop index ${how} if exists ip_assignments_gateway`.execute(db);
}
