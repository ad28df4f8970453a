import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { ActionResource } from '../lib/action-resource.ts';
import { ConflictError } from '../lib/errors.ts';
import type { Tables } from './tables.ts';

/** Asks the database: through the pool, or on the own connection of a transaction. */
export type Sql = Kysely<Tables>;

/** `sql` speaks kysely on the transaction's own connection; `client` is that connection, for libraries that want it raw. */
export interface Transaction {
  sql: Sql;
  client: pg.PoolClient;
}

/** What goes into the transaction of a request besides its work. */
export interface RequestWrites {
  before(tx: Transaction): Promise<void>;
  after(tx: Transaction): Promise<void>;
  /** Called once the transaction is committed. */
  committed(): void;
  /** The account whose resources the request is about, where that isn't the caller's. */
  concerns(clientId: number): void;
  /** A resource that the request makes, changes or removes, for those who ask later who did it. */
  about(resource: ActionResource): void;
  /** The task that the work of the request started. */
  started(taskId: string): void;
}

/** Whoever makes a request. A request that only reads has nothing to write. */
export interface Caller {
  writes?: RequestWrites | undefined;
}

export interface Database {
  sql: Sql;
  pool: pg.Pool;
  /**
   * Runs `work` in one transaction: commits when it returns, rolls back when it throws.
   * A deadlock or serialization failure is tried again, so `work` must have no effect outside the database.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * `transaction` for the work of a client's request: what is kept of the request itself (its audit row, its
   * idempotency key, the version it asked for) is written and checked in the same transaction.
   */
  accept<T>(caller: Caller, work: (tx: Transaction) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const RETRYABLE = new Set(['40001', '40P01']);
// Still deadlocked after every attempt, or something referred to is gone since it was checked.
const OVERTAKEN = new Set([...RETRYABLE, '23503']);
const ATTEMPTS = 3;

// Ids and counts are bigint in the database and stay below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/**
 * `repeatable`: for writes that cost nothing but a repetition when the database server is cut off. Their commits don't wait
 * for the disk (synchronous_commit off), so that the last half second of them may be missing then, never a part of one.
 */
export function openDatabase(
  connection: pg.PoolConfig,
  maxConnections = 20,
  { repeatable = false }: { repeatable?: boolean } = {},
): Database {
  const pool = new pg.Pool({
    ...connection,
    max: maxConnections,
    connectionTimeoutMillis: 10_000,
    statement_timeout: 30_000,
    // A process that hangs in the middle of a transaction must not keep its locks.
    idle_in_transaction_session_timeout: 15_000,
    application_name: 'tradewind',
  });
  // Connections may break at any moment, also while they are lent out: whoever uses one gets the fault from the query, and
  // the pool makes a new one. Without a listener on each, it would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
  // The statement goes before any other on that connection.
  if (repeatable)
    pool.on('connect', (client) => void client.query('set synchronous_commit = off').catch(() => {}));
  const sql = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });

  async function attempt<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    let broken: Error | undefined;
    try {
      await client.query('begin');
      const result = await work({ sql: kyselyOn(client), client });
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback').catch((fault: Error) => {
        broken = fault;
      });
      throw error;
    } finally {
      client.release(broken);
    }
  }

  async function transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    for (let left = ATTEMPTS - 1; ; left--) {
      try {
        return await attempt(work);
      } catch (error) {
        if (!(error instanceof pg.DatabaseError)) throw error;
        if (left > 0 && RETRYABLE.has(error.code ?? '')) continue;
        throw overtakenNamed(error);
      }
    }
  }

  return {
    sql,
    pool,
    transaction,
    async accept({ writes }, work) {
      if (!writes) return transaction(work);
      const result = await transaction(async (tx) => {
        await writes.before(tx);
        const done = await work(tx);
        await writes.after(tx);
        return done;
      });
      writes.committed();
      return result;
    },
    close: () => sql.destroy(),
  };
}

/** What to tell a client whose statement came too late for what it refers to; any other error as it is. */
export function overtakenNamed(error: Error): Error {
  if (!(error instanceof pg.DatabaseError && OVERTAKEN.has(error.code ?? ''))) return error;
  const conflict = new ConflictError(
    'Another request changed the same resources at the same time; try again',
  );
  conflict.cause = error;
  return conflict;
}

// A connection serves many transactions, and making a kysely costs as much as a small statement.
const kyselies = new WeakMap<pg.PoolClient, Kysely<Tables>>();

function kyselyOn(client: pg.PoolClient): Kysely<Tables> {
  const known = kyselies.get(client);
  if (known) return known;
  const made = makeKyselyOn(client);
  kyselies.set(client, made);
  return made;
}

/** kysely on one connection that somebody else opened and will release. */
function makeKyselyOn(client: pg.PoolClient): Kysely<Tables> {
  const lent = { query: client.query.bind(client), release: () => {} };
  const pool = { connect: async () => lent, end: async () => {} };
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

/** Whether a database error is the violation of the constraint or unique index of that name. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.constraint === constraint;
}
