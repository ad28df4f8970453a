import type { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import { Kysely, PostgresDialect, type RawBuilder, sql } from 'kysely';
import pg from 'pg';
import type { Logger } from 'pino';
import { ConflictError, UnavailableError } from '../lib/errors.ts';
import * as requestContext from '../lib/request-context.ts';
import type { ActionResource } from '../lib/resources.ts';
import { type TagQuery, tagFilter } from '../lib/tags.ts';
import { type Clock, systemClock } from '../lib/time.ts';
import { createTurns, type Turns } from '../lib/turns.ts';
import { createAnnouncer } from './changes.ts';
import { DISK_FULL } from './outages.ts';
import { goStraight, isStalePlan, planAnew, type Statement } from './statements.ts';
import type { Tables } from './tables.ts';

/** Queries the database: through the pool, or on a transaction's own connection. */
export type Sql = Kysely<Tables>;

/** Returns whether a condition holds. */
export async function holds(db: Sql, condition: RawBuilder<boolean>): Promise<boolean> {
  const { rows } = await sql`select where ${condition}`.execute(db);
  return rows.length > 0;
}

/** `sql` is kysely on the transaction's own connection; `client` is that connection, for libraries that need it raw. */
export interface Transaction {
  sql: Sql;
  client: pg.PoolClient;
  /**
   * Sends a statement without waiting for its answer: the next ones come right behind. If it fails, the transaction does,
   * and tells why. `answered` is called with the answer before the transaction ends.
   */
  send<A extends object, R>(statement: Statement<A, R>, args: A, answered?: (rows: R[]) => void): void;
  /**
   * Runs `work` at the end, when even the request is recorded: for rows that the account's other changes wait for. It may
   * still fail the transaction. In a part of a transaction, at the end of that part.
   */
  last(work: () => Promise<unknown>): void;
  /**
   * Runs `work` once the transaction is committed; never if it isn't, so not for an attempt that is repeated. If `work`
   * throws, that is logged: the change is made all the same.
   */
  afterCommit(work: () => void): void;
  /**
   * Announces a change once it is committed, without waiting. If the process dies right then, nobody hears of it: use it only
   * where a look now and then would find the change anyway.
   */
  announce(topic: string, key?: string | number): void;
  /**
   * Whether this attempt waits for what may refuse it, to tell why. Others may send that with `require_that` and wait for
   * nothing: if it fails, the work is done once more, carefully.
   */
  careful: boolean;
  /**
   * When it began, by the database's clock: the time of what it writes. A deadline that may pass while it waits for locks is
   * compared with the clock instead.
   */
  now: Date;
  /** Notes a resource that it makes, changes or removes, for the record of who did it. */
  about(resource: ActionResource): void;
  /** Notes the ID of what it makes, if `about` has no word for it. */
  made(id: string | number): void;
  started(taskId: string): void;
}

export interface Database {
  sql: Sql;
  pool: pg.Pool;
  /**
   * Runs `work` in one transaction: commits when it returns, rolls back when it throws. Deadlocks,
   * serialization failures, plans made stale by a newer release and what `require_that` refuses are retried, so `work` must have
   * no effect outside the database.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * Runs `work` for the present request. The records of the request itself (its audit row, its idempotency
   * key, the version it asked for) are written and checked in the same transaction.
   * @throws UnavailableError like `requireRoom`
   */
  accept<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** @throws UnavailableError if so many changes of an account wait that another one had better come again later */
  requireRoom(account: number | undefined): void;
  /** Announces what is committed, like `Transaction.announce`. */
  announce(topic: string, key?: string | number): void;
  /** Whether the database has said in the last minute that its disk is full. It may still answer what only reads. */
  hasFullDisk(): boolean;
  close(): Promise<void>;
}

/** A database without dry runs, and with what `withDryRuns` needs for them. */
export interface PlainDatabase extends Database {
  clock: Clock;
  /** Lends a connection to read with, in the account's turn. */
  connect(): Promise<Pick<pg.PoolClient, 'query' | 'release'>>;
  query: pg.Pool['query'];
  /** `line` is where they wait, by default the one of changes. */
  requireRoom(account: number | undefined, line?: Turns): void;
  /**
   * Runs `work` in a transaction, in the account's turn in `tries` and among the changes, keeps it open as long as `hold`
   * needs it, and rolls it back. @throws what a commit would throw
   */
  tryOut<T>(
    work: (tx: Transaction) => Promise<T>,
    tries: Turns,
    hold: (client: pg.PoolClient, result: T) => Promise<void>,
  ): Promise<unknown>;
}

/**
 * Waits for all of it, even if one fails: what a transaction does must be over before it ends. Built queries are sent in
 * this order. @throws the error of the first one that failed
 */
export async function together<T extends readonly unknown[]>(...all: { [N in keyof T]: Promise<T[N]> }): Promise<T> {
  await Promise.allSettled(all);
  return Promise.all(all) as Promise<unknown> as Promise<T>;
}

/**
 * Sends what is written in one turn of the event loop by one system call, which costs as much as a small statement. TLS
 * puts a socket of its own before it, which doesn't.
 */
class GatheringSocket extends Socket {
  /** Sends at once what is gathered. The caller has more to do in this turn. */
  flush(): void {
    while (this.writableCorked > 0) super.uncork();
  }

  override uncork(): void {
    process.nextTick(() => super.uncork());
  }

  override connect(...given: unknown[]): this {
    // It resets an overridden `write`.
    super.connect(...(given as Parameters<Socket['connect']>));
    // The driver corks it for what it prepares, but not for `begin` and `commit`.
    this.write = (...written: unknown[]) => {
      if (this.writableCorked === 0) {
        this.cork();
        this.uncork();
      }
      return super.write(...(written as Parameters<Socket['write']>));
    };
    return this;
  }
}

function sendGathered(client: pg.PoolClient): void {
  const { connection } = client as unknown as { connection: { stream: unknown } };
  if (connection.stream instanceof GatheringSocket) connection.stream.flush();
}

/** Ends a transaction whose work is done. */
type End<T> = (client: pg.PoolClient, result: T) => Promise<unknown>;
const commit: End<unknown> = async (client) => {
  const { command } = await client.query('commit');
  // What PostgreSQL does, without an error, when a statement has failed and the work went on.
  if (command !== 'COMMIT') throw new Error('The transaction was rolled back: one of its statements failed');
};

/** Held shared by each transaction of a database that is opened `inTurns`: who holds it alone has no other beside it. */
export const TURN = `hashtextextended('tradewind turns', 0)`;

const CONFLICTS = ['40001', '40P01'];
// Still deadlocked after every attempt, or a referenced row was deleted after it was checked.
const OVERTAKEN = new Set([...CONFLICTS, '23503']);
/** What `require_that` raises. */
const REFUSED = 'TW001';
const RETRYABLE = new Set([...CONFLICTS, REFUSED]);
const ATTEMPTS = 3;

interface Borrowed {
  client: pg.PoolClient;
  release: (broken?: Error) => void;
}

/** Clients' changes never use these connections, so that reads are answered while changes wait. */
const KEPT_FOR_READS = 4;
/** Changes that may wait for a connection. */
const MOST_WAITING = { each: 144, all: 576 };
/** Reading statements of one account at a time. Each may keep a core of the database busy, and it may have only a few. */
const MOST_READS = 2;
/** Reading statements that take longer rest in between. */
const LONG_READ_MS = 5;
/** The place of a change that takes longer rests six times as long, while another account is about. */
const LONG_CHANGE_MS = 5;
/** How long a statement or a transaction waits for a turn of its account, and then for a connection. */
const PATIENCE_MS = 10_000;
/** Workers write each other second, so a disk that stays full is told of again. */
const FULL_FOR_MS = 60_000;

// Ids and counts are bigint in the database and stay below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** Tells of what fails after a commit, where nobody waits for it. */
type FaultLog = Pick<Logger, 'error'>;
const warnings: FaultLog = { error: ({ err }: { err: Error }) => process.emitWarning(err) };

/**
 * `clock` gives the time of transactions, which triggers see too. `repeatable`: for writes that can simply be repeated when the database server crashes. Their commits don't
 * wait for the disk (synchronous_commit off): the last half second of them may be lost, but never a part of
 * one. `inTurns`: its transactions wait while one of `TURN` is at work.
 */
export function openDatabase(
  connection: pg.PoolConfig,
  maxConnections = 20,
  {
    repeatable = false,
    clock = systemClock,
    log = warnings,
    inTurns = false,
  }: { repeatable?: boolean; clock?: Clock; log?: FaultLog; inTurns?: boolean } = {},
): PlainDatabase {
  const pool = new pg.Pool({
    ...connection,
    max: maxConnections,
    // A statement doesn't wait for the answer to the one before it.
    pipeline: true,
    stream: () => new GatheringSocket(),
    connectionTimeoutMillis: PATIENCE_MS,
    statement_timeout: 30_000,
    // A process that hangs in the middle of a transaction must not keep its locks.
    idle_in_transaction_session_timeout: 15_000,
    application_name: 'tradewind',
  });
  // Connections may break at any moment, even while in use: the query then fails, and the pool opens a new
  // one. Without a listener on each connection, the error would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
  let fullAt = Number.NEGATIVE_INFINITY;
  pool.on('connect', (client) => {
    // Of whatever statement: nobody else sees the errors of all.
    const { connection } = client as unknown as { connection: EventEmitter<{ errorMessage: [pg.DatabaseError] }> };
    connection.on('errorMessage', ({ code }) => {
      if (code === DISK_FULL) fullAt = performance.now();
    });
  });
  // This statement runs before any other on that connection.
  if (repeatable) pool.on('connect', (client) => void client.query('set synchronous_commit = off').catch(() => {}));
  planAnew(pool);
  const places = createTurns(maxConnections, { patienceMs: PATIENCE_MS });
  const reads = createTurns(maxConnections, {
    patienceMs: PATIENCE_MS,
    most: MOST_READS,
    restAfterMs: LONG_READ_MS,
  });
  // A change that was let in here waits for its place without a limit.
  const changes = createTurns(Math.max(1, maxConnections - KEPT_FOR_READS), {
    restAfterMs: LONG_CHANGE_MS,
    restTimes: 6,
    longestRestMs: 500,
    restAlways: true,
    isAlone: places.isAlone,
  });

  /**
   * Waits for the account's turn in each of the lines, and returns what gives the places back. The server's own work needs none: it
   * comes before what waits there. A wait in one line is no use of a place in another.
   */
  async function enter(account: number | undefined, lines: readonly Turns[]): Promise<() => void> {
    const taken: ((usedMs: number) => void)[] = [];
    let since: number | undefined;
    const leave = () => {
      const usedMs = since === undefined ? 0 : performance.now() - since;
      for (const giveBack of taken) giveBack(usedMs);
    };
    try {
      for (const line of account === undefined ? [] : lines) {
        taken.push(await line.take(account));
      }
    } catch (error) {
      leave();
      throw error;
    }
    since = performance.now();
    return leave;
  }

  async function inTurn<T>(lines: readonly Turns[], work: () => Promise<T>): Promise<T> {
    const leave = await enter(requestContext.accountNow(), lines);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  async function borrow(...lines: Turns[]): Promise<Borrowed> {
    const leave = await enter(requestContext.accountNow(), lines);
    try {
      const client = await pool.connect();
      const release = (broken?: Error) => {
        client.release(broken);
        leave();
      };
      return { client, release };
    } catch (error) {
      leave();
      throw error;
    }
  }

  async function connect() {
    const { client, release } = await borrow(reads, places);
    return { ...lent(client), release };
  }

  function query(...statement: Parameters<pg.Pool['query']>) {
    const ask = async () => pool.query(...statement);
    return requestContext.accountNow() === undefined ? ask() : inTurn([reads, places], ask);
  }

  const sql = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: { connect, end: async () => {} } }),
  });
  goStraight(sql, { query: query as pg.Pool['query'] });
  const announcer = createAnnouncer((text, values) => pool.query(text, values));
  let closing: Promise<void> | undefined;
  const takeTurn = inTurns ? `; select pg_advisory_xact_lock_shared(${TURN})` : '';

  function requireRoom(account: number | undefined, line: Turns = changes): void {
    if (line.hasRoom(account, MOST_WAITING)) return;
    throw new UnavailableError('Too many changes of your account are waiting; try again in a second');
  }

  /** Nothing may make a committed change look failed. */
  function afterwards(work: () => void): void {
    try {
      work();
    } catch (error) {
      log.error({ err: error }, 'A change is made, but what should follow it failed');
    }
  }

  async function attempt<T>(
    work: (tx: Transaction) => Promise<T>,
    end: End<T>,
    lines: readonly Turns[],
    careful: boolean,
  ): Promise<T> {
    const { client, release } = await borrow(...lines, places);
    // It has its place. If what it asks beside its connection waited for another one, all could wait for each other.
    return requestContext.onOwnBehalf(() => carriedOut(client, release, work, end, careful));
  }

  async function carriedOut<T>(
    client: pg.PoolClient,
    release: (broken?: Error) => void,
    work: (tx: Transaction) => Promise<T>,
    end: End<T>,
    careful: boolean,
  ): Promise<T> {
    let broken: Error | undefined;
    try {
      const tried = end === commit ? '' : `; set local tradewind.dry_run = 'on'`;
      const now = clock.now();
      // What is sent behind it fails with it: the connection is lost, or its transaction is aborted.
      const begun = client.query(`begin; set local tradewind.now = '${now.toISOString()}'${tried}${takeTurn}`);
      begun.catch(() => {});
      const later: (() => void)[] = [];
      const afterCommit = (then: () => void) => void later.push(then);
      const announce: Transaction['announce'] = (...change) => afterCommit(() => announcer.announce(...change));
      const result = await workAndEnd(client, now, work, { afterCommit, announce, careful }, end, [begun]);
      if (end === commit) for (const then of later) afterwards(then);
      return result;
    } catch (error) {
      await client.query('rollback').catch((fault: Error) => {
        broken = fault;
      });
      throw error;
    } finally {
      release(broken);
    }
  }

  /** Waits for its turn in each of the lines, and then for a connection. */
  async function transaction<T>(
    work: (tx: Transaction) => Promise<T>,
    end: End<T> = commit,
    lines: readonly Turns[] = [],
  ): Promise<T> {
    // What is tried out stays open, so it has one attempt at saying why.
    let careful = end !== commit;
    for (let left = ATTEMPTS - 1; ; left--) {
      try {
        return await attempt(work, end, lines, careful);
      } catch (error) {
        if (!(error instanceof pg.DatabaseError)) throw error;
        // The last one has to know, even if it is made because of a deadlock.
        careful ||= error.code === REFUSED || left === 1;
        if (left > 0 && (RETRYABLE.has(error.code ?? '') || isStalePlan(error))) continue;
        throw overtakenNamed(error);
      }
    }
  }

  return {
    sql,
    pool,
    clock,
    connect,
    query: query as pg.Pool['query'],
    transaction: (work) => transaction(work),
    async accept(work) {
      const record = requestContext.recordNow();
      if (!record) return transaction(work);
      requireRoom(requestContext.accountNow());
      const result = await transaction(recorded(work), commit, [changes]);
      requestContext.noteCommit();
      afterwards(() => record.committed());
      return result;
    },
    tryOut: (work, tries, hold) =>
      transaction(
        work,
        async (client, result) => {
          // What a commit would check.
          await client.query('set constraints all immediate');
          await hold(client, result);
          await client.query('rollback');
        },
        [tries, changes],
      ),
    requireRoom,
    announce: announcer.announce,
    hasFullDisk: () => performance.now() - fullAt < FULL_FOR_MS,
    close: () => {
      closing ??= announcer.finish().then(() => pool.end());
      return closing;
    },
  };
}

/** Returns `work` with what the present request records of its change, before and after it. */
function recorded<T>(work: (tx: Transaction) => Promise<T>): (tx: Transaction) => Promise<T> {
  const record = requestContext.recordNow();
  if (!record) return work;
  return async (tx) => {
    await record.before(tx);
    const done = await work(tx);
    // PostgreSQL works on it while the record is made: a creation or deletion takes 0.94 of the time.
    sendGathered(tx.client);
    await record.after(tx);
    return done;
  };
}

/**
 * Returns the database for requests that may be dry runs: the transaction of the first change stays open, whatever else
 * the request does is done in it, and all is rolled back at its end (ADR 17).
 */
export function withDryRuns(plain: PlainDatabase): Database {
  const { announce, clock, pool, requireRoom, hasFullDisk, close } = plain;
  /** An account has one at a time: each costs more than the change itself. */
  const tries = createTurns(pool.options.max, { patienceMs: PATIENCE_MS, most: 1, restAfterMs: LONG_READ_MS });
  const openClient = () => requestContext.dryConnection() as pg.PoolClient | undefined;

  async function connect() {
    const open = openClient();
    return open ? lent(open) : plain.connect();
  }

  function query(...statement: Parameters<pg.Pool['query']>) {
    const open = openClient();
    return open ? open.query(...statement) : plain.query(...statement);
  }

  const sql = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: { connect, end: async () => {} } }) });
  goStraight(sql, { query: query as pg.Pool['query'] });

  async function within<T>(run: requestContext.DryRun, work: (tx: Transaction) => Promise<T>): Promise<T> {
    try {
      return await run.use(workAndEnd(run.client as pg.PoolClient, clock.now(), work, NO_COMMIT));
    } catch (error) {
      throw overtakenNamed(error as Error);
    }
  }

  /** Keeps its place among the changes until the dry run ends. */
  function tryOut<T>(run: requestContext.DryRun, work: (tx: Transaction) => Promise<T>): Promise<T> {
    requireRoom(requestContext.accountNow(), tries);
    return new Promise((resolve, reject) => {
      plain.tryOut(work, tries, (client, result) => run.hold(client, () => resolve(result))).catch(reject);
    });
  }

  return {
    sql,
    pool,
    announce,
    close,
    hasFullDisk,
    requireRoom: (account) => requireRoom(account),
    async transaction(work) {
      const run = requestContext.dryRunNow();
      return run?.client ? within(run, work) : plain.transaction(work);
    },
    async accept(work) {
      const run = requestContext.dryRunNow();
      if (!run) return plain.accept(work);
      if (requestContext.recordNow()) requireRoom(requestContext.accountNow());
      // A second change sees the first.
      return run.client ? within(run, recorded(work)) : tryOut(run, recorded(work));
    },
  };
}

/**
 * Returns what to tell a client whose statement came after a referenced row changed or went; other errors unchanged.
 */
export function overtakenNamed(error: Error): Error {
  if (!(error instanceof pg.DatabaseError && OVERTAKEN.has(error.code ?? ''))) return error;
  const conflict = new ConflictError('Another request changed the same resources at the same time; try again');
  conflict.cause = error;
  return conflict;
}

/** Whether it is what `overtakenNamed` made of a database error. */
export const wasOvertaken = ({ cause }: Error): boolean => cause instanceof pg.DatabaseError;

// A connection serves many transactions, and creating a kysely costs as much as a small statement.
const kyselies = new WeakMap<pg.PoolClient, Kysely<Tables>>();

function kyselyOn(client: pg.PoolClient): Kysely<Tables> {
  const known = kyselies.get(client);
  if (known) return known;
  const made = makeKyselyOn(client);
  goStraight(made, client);
  kyselies.set(client, made);
  return made;
}

/**
 * What statements say that come behind one that failed: that the transaction is aborted, or that the plan is missing which the
 * first of them would have made.
 */
const CONSEQUENCES = new Set(['25P02', '26000']);
const isConsequence = (error: unknown) => error instanceof pg.DatabaseError && CONSEQUENCES.has(error.code ?? '');

/** Waits for all that was sent. Returns the fault of the first statement that failed, whichever fault is known first. */
async function firstFault(sent: readonly Promise<unknown>[], known: unknown): Promise<unknown> {
  const faults = (await Promise.allSettled(sent)).flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  return faults.find((fault) => !isConsequence(fault)) ?? known;
}

type Attempt = Pick<Transaction, 'afterCommit' | 'announce' | 'careful'>;
const NO_COMMIT: Attempt = { afterCommit() {}, announce() {}, careful: true };

/** Does the work of a transaction, and ends it. What ends it is sent right behind the work's last statements. */
async function workAndEnd<T>(
  client: pg.PoolClient,
  now: Date,
  work: (tx: Transaction) => Promise<T>,
  made: Attempt,
  end: End<T> = async () => {},
  sent: Promise<unknown>[] = [],
): Promise<T> {
  try {
    const lasts: (() => Promise<unknown>)[] = [];
    const result = await work(transactionOn(client, now, made, sent, lasts));
    await together(...lasts.map((each) => each()));
    await end(client, result);
    await Promise.all(sent);
    return result;
  } catch (error) {
    // Whatever failed after a statement that nobody waited for failed because of it.
    throw await firstFault(sent, error);
  }
}

/**
 * Does a part of a transaction that may fail without the rest. @throws what failed first, after the part is undone
 */
export async function withSavepoint<T>(tx: Transaction, work: (tx: Transaction) => Promise<T>): Promise<T> {
  await tx.client.query('savepoint part');
  try {
    const result = await workAndEnd(tx.client, tx.now, work, { ...tx, careful: true });
    await tx.client.query('release savepoint part');
    return result;
  } catch (error) {
    await tx.client.query('rollback to savepoint part');
    throw error;
  }
}

function transactionOn(
  client: pg.PoolClient,
  now: Date,
  { afterCommit, announce, careful }: Attempt,
  sent: Promise<unknown>[],
  lasts: (() => Promise<unknown>)[],
): Transaction {
  const record = requestContext.recordNow();
  const db = kyselyOn(client);
  return {
    sql: db,
    client,
    now,
    afterCommit,
    announce,
    careful,
    last: (each) => void lasts.push(each),
    send(statement, args, answered = () => {}) {
      const answer = statement(db, args).then(answered);
      answer.catch(() => {});
      sent.push(answer);
    },
    about: (resource) => record?.about(resource),
    made: (id) => record?.made(id),
    started: (taskId) => record?.started(taskId),
  };
}

/** Returns a kysely on one connection that the caller opened and will release. */
function makeKyselyOn(client: pg.PoolClient): Kysely<Tables> {
  const one = lent(client);
  const pool = { connect: async () => one, end: async () => {} };
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

/** Lends a connection to kysely, which doesn't own it. */
function lent<Given extends pg.PoolClient | undefined>(client: Given) {
  return (client && { query: client.query.bind(client), release: () => {} }) as Given extends undefined
    ? undefined
    : Pick<pg.PoolClient, 'query' | 'release'>;
}

/** Whether a database error is a violation of the constraint or unique index of that name. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.constraint === constraint;
}

/** The project and region of a resource. */
export interface Place {
  projectId: number;
  regionId: number;
}

/**
 * Returns the condition for rows of that place. In a query over several tables, `table` names the one with the columns.
 */
export function isIn({ projectId, regionId }: Place, table?: string): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(table === undefined ? name : `${table}.${name}`);
  return sql`${column('project_id')} = ${projectId} and ${column('region_id')} = ${regionId}`;
}

/** Returns the condition that rows found by their IDs are in that place. */
export const belongsTo = (place: Place, table?: string): RawBuilder<boolean> => onlyChecked(isIn(place, table));

/**
 * Returns a condition for rows that are found by their IDs. PostgreSQL doesn't search by it. Without this, it may choose
 * the index of a project's things by age, which has the ID last, and read all of it: while it has no statistics of the
 * table, and PostgreSQL 15 also where most projects have few things.
 */
export function onlyChecked(condition: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(${condition}) is true`;
}

export function newResource({ projectId, regionId }: Place, taskId: string, now: Date) {
  return {
    project_id: projectId,
    region_id: regionId,
    creator_task_id: taskId,
    task_id: taskId,
    created_at: now,
    updated_at: now,
  };
}

/**
 * Returns conditions on a `tags` column (jsonb, with a gin index): every key present, every pair equal.
 * @throws InvalidError like `tagFilter`
 */
export function tagConditions(column: string, query: TagQuery): RawBuilder<boolean>[] {
  const { tagKeys, tags } = tagFilter(query);
  const conditions: RawBuilder<boolean>[] = [];
  if (tagKeys.length > 0) conditions.push(sql<boolean>`${sql.ref(column)} ?& ${tagKeys}::text[]`);
  if (Object.keys(tags).length > 0) {
    conditions.push(sql<boolean>`${sql.ref(column)} @> ${JSON.stringify(tags)}::jsonb`);
  }
  return conditions;
}
