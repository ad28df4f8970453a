import { type Kysely, sql } from 'kysely';

/** Clients are searched by parts of their users' names and addresses. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ['name', 'email']) {
    await sql`
      create index ${sql.id(`users_${column}_text`)} on users using gin (${sql.id(column)} gin_trgm_ops)`.execute(db);
  }
}
