import { type Kysely, type Migration, sql } from 'kysely';

/** A file of this folder, as `index.ts` lists it. */
export interface SchemaMigration extends Migration {
  /**
   * Names the migration that a process must know to keep running after this one: this one itself if no
   * earlier release can, or that of the first release without need for what this one removes. Without it,
   * every earlier release keeps running.
   */
  breaking?: string;
  /**
   * False for statements that PostgreSQL only runs outside a transaction. The migration may run again after
   * failing halfway.
   */
  transaction?: false;
}

/** Builds an index while others keep writing. For migrations with `transaction = false`. */
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
  // An interrupted build leaves an invalid index.
  if (rows.length > 0) await sql`drop index ${how} if exists ${sql.ref(name)}`.execute(db);
  await sql`create ${sql.raw(unique ? 'unique ' : '')}index ${how} if not exists ${sql.ref(name)} on ${sql.raw(definition)}`.execute(
    db,
  );
}
