import { sql } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import type { Tables } from '../../../db/tables.ts';

export type CatalogRow = Omit<Tables['catalog'], 'single'>;
export type ReaderRow = Omit<Tables['catalog_readers'], 'seen_at'>;

/** A reader that has not reported for so long is dead. */
const DEAD_AFTER_MS = 10_000;
export const READER_IS_DEAD = sql<boolean>`seen_at < now() - ${DEAD_AFTER_MS} * interval '1 millisecond'`;

/** Locks the catalogue against others who want to change it. */
export async function lockCatalog(db: Sql): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('tradewind catalog', 0))`.execute(db);
}

export async function catalogInForce(db: Sql): Promise<Omit<CatalogRow, 'files'> | undefined> {
  return db.selectFrom('catalog').select(['revision', 'hash', 'origin', 'applied_at']).executeTakeFirst();
}

export async function catalogFiles(db: Sql): Promise<CatalogRow | undefined> {
  return db.selectFrom('catalog').select(['revision', 'hash', 'files', 'origin', 'applied_at']).executeTakeFirst();
}

export async function putInForce(db: Sql, row: Omit<CatalogRow, 'revision'>): Promise<number> {
  const { revision } = await db
    .insertInto('catalog')
    .values({ ...row, revision: 1 })
    .onConflict((conflict) =>
      conflict.column('single').doUpdateSet({ ...row, revision: (now) => now('catalog.revision', '+', 1) }),
    )
    .returning('revision')
    .executeTakeFirstOrThrow();
  return revision;
}

/** Records what this process works with, and returns the revision of the catalogue in force. */
export async function reportReader(db: Sql, reader: ReaderRow): Promise<number | undefined> {
  const { revision, refused, problem } = reader;
  const row = await db
    .with('reported', (with_) =>
      with_
        .insertInto('catalog_readers')
        .values(reader)
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet({ revision, refused, problem, seen_at: sql<Date>`now()` }),
        ),
    )
    .with('buried', (with_) =>
      with_.deleteFrom('catalog_readers').where('id', 'in', (row) =>
        // Two processes that delete dead readers at once must not wait for each other.
        row
          .selectFrom('catalog_readers')
          .select('id')
          .where(READER_IS_DEAD)
          .where('id', '!=', reader.id)
          .forUpdate()
          .skipLocked(),
      ),
    )
    .selectFrom('catalog')
    .select('revision')
    .executeTakeFirst();
  return row?.revision;
}

export async function forgetReader(db: Sql, id: string): Promise<void> {
  await db.deleteFrom('catalog_readers').where('id', '=', id).execute();
}

export async function livingReaders(db: Sql): Promise<ReaderRow[]> {
  return db
    .selectFrom('catalog_readers')
    .select(['id', 'host', 'pid', 'revision', 'refused', 'problem'])
    .where((row) => row.not(READER_IS_DEAD))
    .orderBy('host')
    .orderBy('pid')
    .execute();
}
