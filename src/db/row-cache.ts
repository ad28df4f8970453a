import { dryConnection } from '../lib/dry-run.ts';
import type { ChangeFeed } from './changes.ts';

/** Runs the query when there is room for it, or throws instead. */
export type Admit = <T>(ask: () => Promise<T>) => Promise<T>;

const MAX_ENTRIES = 10_000;
/** How long a row is believed to be missing. New rows are announced; this is for rows made by hand. */
const MISSING_MS = 10_000;

/**
 * Keeps small rows that nearly every request needs (a token, a project), so that a read costs one query and
 * not three. A change by this process is seen at once, another process's as soon as its commit is announced.
 * While announcements can't reach us, every look-up queries the database. With `misses`, missing rows are
 * remembered too, against strangers who try any id: then new rows have to be announced like changed ones.
 * Rows that are large `weigh` as many usual ones, of which 10,000 are kept.
 */
export function createRowCache<V>(
  feed: ChangeFeed,
  topic: string,
  load: (key: number) => Promise<V | undefined>,
  { misses = false, weigh = () => 1 }: { misses?: boolean; weigh?: (row: V) => number } = {},
) {
  const rows = new Map<number, V>();
  let weight = 0;
  const missingUntil = new Map<number, number>();
  // Counts changes, so that a row that was read before a change isn't kept after it.
  let changes = 0;
  const remove = (key: number) => {
    const row = rows.get(key);
    if (row === undefined) return;
    rows.delete(key);
    weight -= weigh(row);
  };
  const keepRow = (key: number, row: V) => {
    remove(key);
    weight += weigh(row);
    // The oldest are dropped first, and this one only if it alone is too large.
    rows.set(key, row);
    for (const oldest of rows.keys()) {
      if (weight <= MAX_ENTRIES) return;
      remove(oldest);
    }
  };
  const drop = (key: number) => {
    changes++;
    remove(key);
    missingUntil.delete(key);
  };
  feed.on(
    topic,
    (key) => drop(Number(key)),
    () => {
      changes++;
      rows.clear();
      weight = 0;
      missingUntil.clear();
    },
  );
  const keepMiss = (key: number) => {
    missingUntil.delete(key);
    if (missingUntil.size >= MAX_ENTRIES) missingUntil.delete(missingUntil.keys().next().value as number);
    missingUntil.set(key, performance.now() + MISSING_MS);
  };
  const kept = (key: number): { row: V | undefined } | undefined => {
    if (!feed.connected()) return undefined;
    const row = rows.get(key);
    const known = row !== undefined || (missingUntil.get(key) ?? 0) > performance.now();
    return known ? { row } : undefined;
  };
  async function ask(key: number, by: typeof load): Promise<V | undefined> {
    const trusted = feed.connected();
    const before = changes;
    const row = await by(key);
    if (!trusted || before !== changes) return row;
    if (row !== undefined) keepRow(key, row);
    else if (misses) keepMiss(key);
    return row;
  }
  return {
    /**
     * Runs `admit` if the cache does not have the row. Within a transaction that has changed nothing yet, `by` may load it
     * over the same connection.
     */
    async get(key: number, admit?: Admit, by = load): Promise<V | undefined> {
      // It sees rows that nobody else ever will.
      if (dryConnection()) return by(key);
      const found = kept(key);
      if (found) return found.row;
      if (!admit) return ask(key, by);
      // Another request may have loaded the row while this one waited.
      return admit(async () => {
        const meanwhile = kept(key);
        return meanwhile ? meanwhile.row : ask(key, by);
      });
    },
    /**
     * Drops a row from the cache. Call it after the commit that changed the row, besides announcing the
     * change.
     */
    forget: drop,
  };
}

export type RowCache<V> = ReturnType<typeof createRowCache<V>>;
