import type { Generated, JSONColumnType } from 'kysely';

export interface CatalogTables {
  /** What all processes offer, in one row. */
  catalog: {
    single: Generated<boolean>;
    /** Counts the catalogues that have been in force. */
    revision: number;
    hash: string;
    /** Its files as JSON. */
    files: string;
    /** Where it came from, for people to read. */
    origin: string;
    applied_at: Date;
  };
  /** The processes that work with the catalogue. Each keeps `seen_at` fresh, by the database's own clock. */
  catalog_readers: {
    id: string;
    host: string;
    pid: number;
    /** The catalogue that the process works with. */
    revision: number;
    /** The last revision that the process can't read, and why. */
    refused: number | null;
    problem: string | null;
    seen_at: Generated<Date>;
  };
  /** The price books that have been in force. What was used before the first one has its prices. */
  price_books: { valid_from: Date; book: JSONColumnType<object> };
}
