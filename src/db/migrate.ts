import { Migrator } from 'kysely';
import { migrations } from '../../migrations/index.ts';
import { OperatorError } from '../lib/operator-error.ts';
import type { Database } from './database.ts';

/**
 * Brings the schema up to date, forward only. Safe to run from several processes at once: the migrator
 * holds an advisory lock. Returns the names of the migrations that ran.
 */
export async function migrate(database: Database): Promise<string[]> {
  const migrator = new Migrator({ db: database.sql, provider: { getMigrations: async () => migrations } });
  const { error, results } = await migrator.migrateToLatest();
  const failed = results?.find((result) => result.status === 'Error');
  if (error) {
    const what = failed ? `Migration ${failed.migrationName} failed` : 'Migrations could not start';
    throw new OperatorError(`${what}: ${(error as Error).message}`, { cause: error });
  }
  return (results ?? []).map((result) => result.migrationName);
}
