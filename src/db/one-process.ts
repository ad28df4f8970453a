import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, type RawBuilder, sql } from 'kysely';

const LOOK_MS = 250;
const TIMEOUTS = ['statement_timeout', 'idle_in_transaction_session_timeout'];

/** Runs on a connection without time limits, since large tables take long. */
type Work<DB, T> = (db: Kysely<DB>) => Promise<T>;

/** Keys of work that only one process of a database does at a time. Never change a key: other releases use it too. */
export const ONLY_ONE = {
  compares: sql<number>`hashtextextended('tradewind comparison', 0)`,
  encrypts: sql<number>`hashtextextended('tradewind encryption', 0)`,
  migrates: sql<number>`hashtext('tradewind migrate')`,
};
type Key = RawBuilder<number>;

/** Does the work, or returns undefined if another process is doing it. */
export function unlessAnother<DB, T>(db: Kysely<DB>, key: Key, work: Work<DB, T>): Promise<T | undefined> {
  return db
    .connection()
    .execute(async (connection) => ((await tryLock(connection, key)) ? locked(connection, key, work) : undefined));
}

/** Does the work once no other process is doing it. Calls `waiting` once if it has to wait. */
export function afterOthers<DB, T>(db: Kysely<DB>, key: Key, waiting: () => void, work: Work<DB, T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    // Polls, because an index that is built concurrently waits for every open statement.
    for (let waited = false; !(await tryLock(connection, key)); await sleep(LOOK_MS)) {
      if (!waited) waiting();
      waited = true;
    }
    return locked(connection, key, work);
  });
}

async function tryLock<DB>(db: Kysely<DB>, key: Key): Promise<boolean> {
  const { rows } = await sql<{ got: boolean }>`select pg_try_advisory_lock(${key}) as got`.execute(db);
  return rows[0]?.got === true;
}

async function locked<DB, T>(db: Kysely<DB>, key: Key, work: Work<DB, T>): Promise<T> {
  try {
    for (const setting of TIMEOUTS) await sql`set ${sql.ref(setting)} = 0`.execute(db);
    return await work(db);
  } finally {
    // A broken connection has lost the lock and the settings anyway.
    await leave(db, key).catch(() => {});
  }
}

async function leave<DB>(db: Kysely<DB>, key: Key): Promise<void> {
  await sql`select pg_advisory_unlock(${key})`.execute(db);
  for (const setting of [...TIMEOUTS, 'lock_timeout']) await sql`reset ${sql.ref(setting)}`.execute(db);
}
