import { sql } from 'kysely';
import { Value } from 'typebox/value';
import type { Sql, Transaction } from '../../../db/database.ts';
import { type PriceBook, priceBookOf } from './price-book.ts';
import { type CatalogContent, catalogFiles } from './schema.ts';

const FILE = 'price-book.yaml';

/** A price book, and when it came into force. It holds until the next one does. */
export interface DatedPriceBook {
  from: Date;
  book: PriceBook;
}

/**
 * Keeps the price book of a catalogue that comes into force, unless it is the last one again. Books of a later time were
 * kept by a clock that was ahead: they are no longer in force.
 */
export async function recordPriceBook(tx: Transaction, catalogText: string, now: Date): Promise<void> {
  const book = JSON.stringify((JSON.parse(catalogText) as Record<string, unknown>)[FILE]);
  await sql`delete from price_books where valid_from > ${now}`.execute(tx.sql);
  await sql`
    insert into price_books (valid_from, book)
    select date_trunc('second', ${now}::timestamptz), ${book}::jsonb
    where ${book}::jsonb is distinct from (select book from price_books order by valid_from desc limit 1)
    on conflict (valid_from) do update set book = excluded.book`.execute(tx.sql);
}

/** Returns the price books that were in force in that time, oldest first. The first one also holds before itself. */
export async function priceBooksBetween(db: Sql, from: Date, to: Date): Promise<DatedPriceBook[]> {
  const rows = await db
    .selectFrom('price_books')
    .select(['valid_from', 'book'])
    .where('valid_from', '<', to)
    .where((row) =>
      row.or([
        row('valid_from', '>', from),
        row('valid_from', '=', (books) =>
          books
            .selectFrom('price_books')
            .select((of) => of.fn.max('valid_from').as('at'))
            .where('valid_from', '<=', from),
        ),
      ]),
    )
    .orderBy('valid_from')
    .execute();
  if (rows.length > 0) return rows.map(dated);
  const first = await db.selectFrom('price_books').selectAll().orderBy('valid_from').limit(1).execute();
  return first.map(dated);
}

/** Each release fills in the defaults of fields that a book doesn't have. */
function dated({ valid_from: from, book }: { valid_from: Date; book: object }): DatedPriceBook {
  const content = Value.Default(catalogFiles[FILE], book) as CatalogContent[typeof FILE];
  return { from, book: priceBookOf(content) };
}
