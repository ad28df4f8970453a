import pg from 'pg';
import { dryConnection } from '../lib/request-context.ts';

/** The channel of announcements, as `topic:key`. */
const CHANNEL = 'tradewind_changed';
const RECONNECT_MS = 1_000;
const KEEP_ALIVE_MS = 10_000;

type Listener = (key: string) => void;

/** Announces changes between the processes that share a database, so that each may keep small caches. */
export interface ChangeFeed {
  /** True while every change reaches this process; caches must not be trusted otherwise. */
  connected(): boolean;
  /** `missed` is called when changes may have been lost, i.e. after each connect. */
  on(topic: string, changed: Listener, missed: () => void): void;
  close(): Promise<void>;
}

export interface ListeningChangeFeed extends ChangeFeed {
  /** Drops what is known of every row, since they have all become others. */
  forgetAll(): void;
}

/**
 * Announces a change of `topic`/`key` in the transaction that makes it: others hear of it after the commit. Commits that
 * announce something wait for each other until they are on the disk, so what is frequent uses `Transaction.announce`.
 */
export async function announce(client: pg.ClientBase, topic: string, key: string | number): Promise<void> {
  await announceAll(client, topic, [key]);
}

export async function announceAll(client: pg.ClientBase, topic: string, keys: (string | number)[]): Promise<void> {
  if (keys.length === 0) return;
  await client.query(`select pg_notify($1, $2 || ':' || key) from unnest($3::text[]) as keys (key)`, [
    CHANNEL,
    topic,
    keys.map(String),
  ]);
}

/** Returns what announces changes that are committed: together those that come while others are being sent, and each once. */
export function createAnnouncer(query: (text: string, values: unknown[]) => Promise<unknown>) {
  const waiting = new Set<string>();
  let sending: Promise<void> | undefined;
  async function send(): Promise<void> {
    // What a transaction announces comes together.
    await Promise.resolve();
    while (waiting.size > 0) {
      const payloads = [...waiting];
      waiting.clear();
      // Listeners also look now and then, so a lost announcement only delays them.
      await query(`select pg_notify($1, payload) from unnest($2::text[]) as each (payload)`, [CHANNEL, payloads]).catch(
        () => {},
      );
    }
    sending = undefined;
  }
  return {
    announce(topic: string, key: string | number = ''): void {
      waiting.add(`${topic}:${key}`);
      sending ??= send();
    },
    /** Waits until all is announced. */
    async finish(): Promise<void> {
      await sending;
    },
  };
}

export async function listenForChanges(connection: pg.ClientConfig): Promise<ListeningChangeFeed> {
  const listeners = new Map<string, { changed: Listener; missed: () => void }[]>();
  let client: pg.Client | undefined;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const next = new pg.Client({
      ...connection,
      application_name: 'tradewind changes',
      // The connection only listens, so only a probe notices when a router has dropped it.
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    });
    next.on('error', lost);
    next.on('end', lost);
    next.on('notification', ({ payload = '' }) => {
      const [topic = '', key = ''] = payload.split(':', 2);
      for (const listener of listeners.get(topic) ?? []) listener.changed(key);
    });
    function lost(): void {
      if (client !== next) return;
      client = undefined;
      next.end().catch(() => {});
      schedule();
    }
    try {
      await next.connect();
      await next.query(`listen ${CHANNEL}`);
    } catch (error) {
      next.removeAllListeners('end');
      next.end().catch(() => {});
      throw error;
    }
    forgetAll();
    client = next;
  }

  function forgetAll(): void {
    for (const all of listeners.values()) for (const listener of all) listener.missed();
  }

  function schedule(): void {
    if (closed) return;
    retry = setTimeout(() => void connect().catch(schedule), RECONNECT_MS);
    retry.unref();
  }

  await connect();
  return {
    connected: () => client !== undefined,
    on(topic, changed, missed) {
      listeners.set(topic, [...(listeners.get(topic) ?? []), { changed, missed }]);
    },
    forgetAll,
    async close() {
      closed = true;
      clearTimeout(retry);
      const last = client;
      client = undefined;
      await last?.end();
    },
  };
}

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
    /** Drops a row from the cache. Call it after the commit that changed the row, besides announcing the change. */
    forget: drop,
  };
}

export type RowCache<V> = ReturnType<typeof createRowCache<V>>;
