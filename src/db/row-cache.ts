import type { ChangeFeed } from './changes.ts';

export interface RowCache<V> {
  get(key: number): Promise<V | undefined>;
  /** Drops what is kept of a row. Call it after the commit that changed it, besides announcing the change. */
  forget(key: number): void;
}

const MAX_ENTRIES = 10_000;

/**
 * Keeps small rows that nearly every request needs (a token, a project), so that a read costs one query and
 * not three. A change made by this process is seen at once, another process's as soon as its commit is
 * announced; while announcements can't reach us every look-up asks the database.
 */
export function createRowCache<V>(
  feed: ChangeFeed,
  topic: string,
  load: (key: number) => Promise<V | undefined>,
): RowCache<V> {
  const rows = new Map<number, V>();
  // Counts changes, so that a row read before a change isn't kept after it.
  let changes = 0;
  const drop = (key: number) => {
    changes++;
    rows.delete(key);
  };
  feed.on(
    topic,
    (key) => drop(Number(key)),
    () => {
      changes++;
      rows.clear();
    },
  );
  return {
    async get(key) {
      if (!feed.connected()) return load(key);
      const kept = rows.get(key);
      if (kept !== undefined) return kept;
      const before = changes;
      const row = await load(key);
      if (row !== undefined && before === changes) {
        if (rows.size >= MAX_ENTRIES) rows.delete(rows.keys().next().value as number);
        rows.set(key, row);
      }
      return row;
    },
    forget: drop,
  };
}
