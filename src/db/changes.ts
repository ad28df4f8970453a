import { sql } from 'kysely';
import pg from 'pg';

/** The channel of announcements, as `topic:key`; for statements that announce by themselves. */
export const CHANNEL = 'tradewind_changed';
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
 * Announces a change of `topic`/`key` in the transaction that makes it: others hear of it after the commit.
 */
export async function announce(client: pg.ClientBase, topic: string, key: string | number): Promise<void> {
  await announceAll(client, topic, [key]);
}

/** Returns the same as an expression for the statement that makes the change. */
export const announcement = (topic: string) => sql`pg_notify(${sql.lit(CHANNEL)}, ${sql.lit(`${topic}:`)})`;

/** Announces many keys of one topic in one statement. */
export async function announceAll(
  client: pg.ClientBase,
  topic: string,
  keys: (string | number)[],
): Promise<void> {
  if (keys.length === 0) return;
  await client.query(`select pg_notify($1, $2 || ':' || key) from unnest($3::text[]) as keys (key)`, [
    CHANNEL,
    topic,
    keys.map(String),
  ]);
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
