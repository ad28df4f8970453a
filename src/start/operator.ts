import type { Config } from '../config.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { refusalNamed } from '../db/refusals.ts';
import { DomainError } from '../lib/errors.ts';
import { createLog } from '../log.ts';
import { requireSchema } from './schema.ts';
import { openStorage } from './storage.ts';

/**
 * Runs an operator's work on the database, whether Tradewind is running or not. Returns the exit code; domain
 * errors are printed on standard error.
 */
export async function asOperator(
  config: Config,
  work: (database: Database) => Promise<string>,
): Promise<number> {
  const storage = await openStorage(config, createLog(config), { share: true, mustExist: true });
  const database = openDatabase(storage.connection, 2);
  try {
    await requireSchema(database);
    process.stdout.write(`${await work(database)}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof DomainError)) throw (await refusalNamed(database.pool, error)) ?? error;
    process.stderr.write(`${error.message}\n`);
    return 64;
  } finally {
    await database.close();
    await storage.stop();
  }
}
