import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Migration, Migrator } from 'kysely';
import { OperatorError } from '../lib/operator-error.ts';
import type { Database } from './database.ts';

/** The migrations beside this build: `migrations/*.ts` from sources, `dist/migrations/*.js` when built. */
const folder = fileURLToPath(new URL('../../migrations/', import.meta.url));

/**
 * Brings the schema up to date, forward only. Safe to run from several processes at once: the migrator
 * holds an advisory lock. Returns the names of the migrations that ran.
 */
export async function migrate(database: Database): Promise<string[]> {
  const migrator = new Migrator({ db: database.sql, provider: { getMigrations: readMigrations } });
  const { error, results } = await migrator.migrateToLatest();
  const failed = results?.find((result) => result.status === 'Error');
  if (error) {
    const what = failed ? `Migration ${failed.migrationName} failed` : 'Migrations could not start';
    throw new OperatorError(`${what}: ${(error as Error).message}`, { cause: error });
  }
  return (results ?? []).map((result) => result.migrationName);
}

async function readMigrations(): Promise<Record<string, Migration>> {
  const migrations: Record<string, Migration> = {};
  for (const file of await readdir(folder)) {
    const name = /^(\d{4}_\w+)\.[jt]s$/.exec(file)?.[1];
    if (name) migrations[name] = (await import(pathToFileURL(path.join(folder, file)).href)) as Migration;
  }
  return migrations;
}
