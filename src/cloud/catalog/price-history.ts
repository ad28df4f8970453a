import { sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';

const FILE = 'price-book.yaml';

/** Keeps the price book of a catalogue that comes into force, unless it is the last one again. */
export async function recordPriceBook(tx: Transaction, catalogText: string, now: Date): Promise<void> {
  const book = JSON.stringify((JSON.parse(catalogText) as Record<string, unknown>)[FILE]);
  await sql`
    insert into price_books (valid_from, book)
    select date_trunc('second', ${now}::timestamptz), ${book}::jsonb
    where ${book}::jsonb is distinct from (select book from price_books order by valid_from desc limit 1)
    on conflict (valid_from) do update set book = excluded.book`.execute(tx.sql);
}
