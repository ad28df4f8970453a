import os from 'node:os';
import { createUserActions } from '../cloud/user-actions/service.ts';
import type { Config } from '../config.ts';
import { type Caller, type Database, openDatabase, type Transaction } from '../db/database.ts';
import { refusalNamed } from '../db/refusals.ts';
import { systemClock } from '../lib/clock.ts';
import { DomainError } from '../lib/errors.ts';
import { version } from '../lib/version.ts';
import { createLog } from '../log.ts';
import { callerOf } from '../requests/command-log.ts';
import { requireSchema } from './schema.ts';
import { openStorage } from './storage.ts';

/**
 * Runs an operator's work on the database, whether Tradewind is running or not. Returns the exit code; domain
 * errors are printed on standard error.
 */
export const asOperator = (config: Config, work: (database: Database) => Promise<string>): Promise<number> =>
  withDatabase(config, work);

/** Records a command in the transaction that makes its change, or the first of its changes. */
export type RecordCommand = (tx: Transaction) => Promise<void>;

/**
 * The same for work that changes something. Either `database.accept` gets the caller, or one of the work's transactions
 * calls `record`: a command that is killed then leaves no change without its record.
 */
export const asRecordedOperator = (
  config: Config,
  command: string,
  work: (database: Database, by: { caller: Caller; record: RecordCommand }) => Promise<string>,
): Promise<number> =>
  withDatabase(config, (database) => {
    const { writes } = callerOf(
      { name: command, by: `tradewind ${version} (${userName()}@${os.hostname()})` },
      { userActions: createUserActions({ database }), clock: systemClock },
    );
    return work(database, { caller: { writes }, record: (tx) => writes.after(tx) });
  });

/** The operating system need not know the user, as in containers. */
function userName(): string {
  try {
    return os.userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

async function withDatabase(config: Config, work: (database: Database) => Promise<string>): Promise<number> {
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
