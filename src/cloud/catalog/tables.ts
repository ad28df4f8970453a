import type { Generated } from 'kysely';

export interface CatalogTables {
  /** What all processes offer: one row. */
  catalog: {
    single: Generated<boolean>;
    /** Counts the catalogues that have been in force. */
    revision: number;
    hash: string;
    /** Its files as JSON. */
    files: string;
    /** Whence it came, for people. */
    origin: string;
    applied_at: Date;
  };
  /** The processes that work with it; each keeps `seen_at` fresh, by the database's own clock. */
  catalog_readers: {
    id: string;
    host: string;
    pid: number;
    /** Which catalogue it works with. */
    revision: number;
    /** The last one that it can't read, and why. */
    refused: number | null;
    problem: string | null;
    seen_at: Generated<Date>;
  };
}
