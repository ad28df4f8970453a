import { type Kysely, type MigrationProvider, Migrator, sql } from 'kysely';
import pRetry from 'p-retry';
import pg from 'pg';
import { migrations } from '../../migrations/index.ts';
import type { SchemaMigration } from '../../migrations/migration.ts';
import { OperatorError } from '../lib/errors.ts';
import type { Database } from './database.ts';
import { afterOthers, ONLY_ONE } from './one-process.ts';
import { type Migrations, readSchema } from './schema.ts';

/** A table, object or schema of that name exists already. */
const TAKEN = new Set(['42P07', '42710', '42P06']);
const NOT_ALLOWED = '42501';

/**
 * Returns what to do about a database that refuses what Tradewind needs; undefined if there is nothing special to say.
 */
export async function refusalNamed(pool: Pick<pg.Pool, 'query'>, error: unknown): Promise<OperatorError | undefined> {
  if (!(error instanceof pg.DatabaseError)) return undefined;
  const { code = '', message } = error;
  if (code !== NOT_ALLOWED && !TAKEN.has(code)) return undefined;
  const { rows } = await pool.query<{ role: string; database: string }>(
    'select current_user as role, current_database() as database',
  );
  const { role, database } = rows[0] ?? { role: '?', database: '?' };
  const text =
    code === NOT_ALLOWED
      ? `The role "${role}" may not do what Tradewind needs in the database "${database}": ${message}. Use the role that owns the database and Tradewind's tables, or make this one their owner (alter database "${database}" owner to "${role}"; reassign owned by ... to "${role}")`
      : `The database "${database}" is used by another program: ${message}. Tradewind needs a database of its own (create database tradewind owner "${role}")`;
  return new OperatorError(text, { cause: error });
}

/** How long a statement waits for a lock: everyone who wants the same table queues behind it, even readers. */
const LOCK_TIMEOUT_MS = 2_000;
/** The queue drains between the attempts. The pauses double up to ten seconds, which makes a minute in all. */
const RETRIES = { retries: 8, minTimeout: 1_000, factor: 2, maxTimeout: 10_000 };
/** Lock timeout and deadlock. */
const RETRYABLE = new Set(['55P03', '40P01']);

interface MigrateOptions {
  /** Receives lines for people who wait. */
  log?: (line: string) => void;
  /** Does nothing if another process was faster. */
  onlyIfEmpty?: boolean;
  known?: Migrations;
  lockTimeoutMs?: number;
}

/**
 * Brings the schema up to date, forward only, and returns the names of the migrations that ran. Each
 * migration is a transaction of its own, and those that succeeded stay. An empty database gets all of them or
 * none, so that other processes always find a complete release.
 * @throws OperatorError, SchemaError if the schema belongs to a later release that this one can't work with
 */
export async function migrate(database: Database, options: MigrateOptions = {}): Promise<string[]> {
  const { known = migrations, log = () => {}, onlyIfEmpty = false, lockTimeoutMs = LOCK_TIMEOUT_MS } = options;
  let at: string | undefined;
  const migrating = (name: string) => {
    at = name;
  };
  try {
    const db = database.sql as unknown as Kysely<unknown>;
    const waiting = () => log('Another process is migrating this database; waiting for it to finish');
    return await afterOthers(db, ONLY_ONE.migrates, waiting, async (connection) => {
      const { refusal, pending, empty } = await readSchema(connection, known);
      if (refusal) throw refusal;
      if (onlyIfEmpty && !empty) return [];
      await makeRecord(connection);
      if (empty) {
        await run(connection, recorded(known, 0, migrating), (migrator) => migrator.migrateToLatest());
        return pending;
      }
      const provider = recorded(known, lockTimeoutMs, migrating);
      for (const name of pending) {
        const outside = known[name]?.transaction === false;
        await patiently(name, log, () => run(connection, provider, (migrator) => migrator.migrateUp(), outside));
      }
      return pending;
    });
  } catch (error) {
    return refuse(database, error, at);
  }
}

/** The migrations, each of which also records the releases that it breaks. */
function recorded(known: Migrations, lockTimeoutMs: number, migrating: (name: string) => void): MigrationProvider {
  const one = ([name, { up, breaking, transaction }]: [string, SchemaMigration]) => ({
    async up(db: Kysely<unknown>) {
      migrating(name);
      // Statements outside a transaction don't keep others from reading or writing, so they may wait.
      const timeout = transaction === false ? '0' : `${lockTimeoutMs}`;
      await sql`select set_config('lock_timeout', ${timeout}, ${db.isTransaction})`.execute(db);
      await up(db);
      if (breaking === undefined) return;
      await sql`
        insert into schema_breaks (migration, needs) values (${name}, ${breaking}) on conflict do nothing`.execute(db);
    },
  });
  const all = Object.fromEntries(Object.entries(known).map((each) => [each[0], one(each)]));
  return { getMigrations: async () => all };
}

async function patiently(name: string, log: (line: string) => void, work: () => Promise<void>): Promise<void> {
  const isRetryable = (error: unknown) => RETRYABLE.has((error as { code?: string }).code ?? '');
  await pRetry(work, {
    ...RETRIES,
    shouldRetry: ({ error }) => isRetryable(error),
    onFailedAttempt({ error, retriesLeft }) {
      if (!isRetryable(error) || retriesLeft === 0) return;
      log(
        `Migration ${name} was blocked by other transactions (${error.message}); trying again, at most ${retriesLeft} times`,
      );
    },
  });
}

async function makeRecord(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`select where to_regclass('schema_breaks') is not null`.execute(db);
  if (rows.length > 0) return;
  await sql`
    create table schema_breaks (
      migration text not null constraint schema_breaks_pkey primary key,
      -- The migration that a release has to know to work with this schema.
      needs text not null
    )`.execute(db);
}

async function run(
  db: Kysely<unknown>,
  provider: MigrationProvider,
  work: (migrator: Migrator) => ReturnType<Migrator['migrateUp']>,
  disableTransactions = false,
): Promise<void> {
  // Migrations run in the order of their names: the recorded times come from the clocks of many machines.
  const { error } = await work(new Migrator({ db, provider, disableTransactions, allowUnorderedMigrations: true }));
  if (error !== undefined) throw error as Error;
}

async function refuse({ pool }: Database, error: unknown, at: string | undefined): Promise<never> {
  if (error instanceof OperatorError) throw error;
  const named = await refusalNamed(pool, error);
  if (named) throw named;
  const { code, message } = error as Error & { code?: string };
  const hint = RETRYABLE.has(code ?? '')
    ? '. Other transactions hold the locks it needs; end long ones (pg_stat_activity shows them) and run "tradewind migrate" again'
    : '';
  const what = at === undefined ? 'Migrations could not start' : `Migration ${at} failed`;
  throw new OperatorError(`${what}: ${message}${hint}`, { cause: error });
}
