import { type Kysely, Migrator, sql } from 'kysely';
import { migrations } from '../../migrations/index.ts';
import { OperatorError } from '../lib/operator-error.ts';
import type { Database } from './database.ts';
import { refusalNamed } from './refusals.ts';
import type { Tables } from './tables.ts';

/** The first there ever was: a database that has it is Tradewind's. */
const [FIRST = ''] = Object.keys(migrations);

/**
 * Brings the schema up to date, forward only. Safe to run from several processes at once: the migrator
 * holds an advisory lock. Returns the names of the migrations that ran.
 */
export async function migrate(database: Database): Promise<string[]> {
  await refuseForeignHistory(database).catch((error: unknown) => refuse(database, error));
  const { error, results } = await withoutTimeouts(database, (db) =>
    new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateToLatest(),
  );
  const failed = results?.find((result) => result.status === 'Error');
  if (error) {
    const what = failed ? `Migration ${failed.migrationName} failed` : 'Migrations could not start';
    await refuse(database, error, what);
  }
  return (results ?? []).map((result) => result.migrationName);
}

/** Large tables take their time, and so does another process that migrates them. */
function withoutTimeouts<T>({ sql: db }: Database, work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    for (const setting of TIMEOUTS) await sql`set ${sql.ref(setting)} = 0`.execute(connection);
    const done = await work(connection);
    for (const setting of TIMEOUTS) await sql`reset ${sql.ref(setting)}`.execute(connection);
    return done;
  });
}

const TIMEOUTS = ['statement_timeout', 'idle_in_transaction_session_timeout'];

/** The migrator would call such a database corrupted. */
async function refuseForeignHistory({ pool }: Database): Promise<void> {
  const { rows: tables } = await pool.query<{ there: boolean }>(
    `select to_regclass('kysely_migration') is not null as there`,
  );
  if (!tables[0]?.there) return;
  const { rows } = await pool.query<{ name: string }>('select name from kysely_migration order by name');
  const names = rows.map(({ name }) => name);
  const unknown = names.filter((name) => !Object.hasOwn(migrations, name));
  const last = unknown.at(-1);
  if (last === undefined) return;
  const message = names.includes(FIRST)
    ? `This database has the schema of a newer Tradewind: ${last} is in it, and this release ends with ${Object.keys(migrations).at(-1)}. Run that release or a later one on it, or name another database`
    : `This database belongs to another program, whose migrations are in it (${last}, for one). Tradewind needs a database of its own`;
  throw new OperatorError(message);
}

async function refuse({ pool }: Database, error: unknown, what?: string): Promise<never> {
  if (error instanceof OperatorError) throw error;
  const named = await refusalNamed(pool, error);
  if (named) throw named;
  if (what === undefined) throw error;
  throw new OperatorError(`${what}: ${(error as Error).message}`, { cause: error });
}
