import { type Kysely, sql } from 'kysely';

/**
 * The column kept an older change of a pool's settings from overtaking a newer one. Wants have generations
 * for that.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table kubernetes_pools drop column revision`.execute(db);
}
