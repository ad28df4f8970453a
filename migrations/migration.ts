import { type Kysely, type Migration, sql } from 'kysely';

/** A file of this folder, as `index.ts` lists it. */
export interface SchemaMigration extends Migration {
  /**
   * Names the migration that a process has to know to go on after this one: itself, where no earlier release can, or the
   * one of the release that first did without what this one takes away. Without it every earlier release goes on.
   */
  breaking?: string;
  /** False for what PostgreSQL does outside a transaction alone. It may be run again after it failed halfway. */
  transaction?: false;
}

/** Builds an index while everybody goes on writing. For migrations with `transaction = false`. */
export async function createIndexConcurrently(
  db: Kysely<unknown>,
  name: string,
  definition: string,
  { unique = false } = {},
): Promise<void> {
  // A new database is made in one transaction, and nobody writes to it.
  const how = sql.raw(db.isTransaction ? '' : 'concurrently');
  const { rows } = await sql`
    select from pg_index where indexrelid = to_regclass(${name}) and not indisvalid`.execute(db);
  // Left by one that was broken off.
  if (rows.length > 0) await sql`drop index ${how} if exists ${sql.ref(name)}`.execute(db);
  await sql`create ${sql.raw(unique ? 'unique ' : '')}index ${how} if not exists ${sql.ref(name)} on ${sql.raw(definition)}`.execute(
    db,
  );
}
