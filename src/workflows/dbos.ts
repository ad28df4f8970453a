import { DBOSClient } from '@dbos-inc/dbos-sdk';
import { ensureSystemDatabase } from '@dbos-inc/dbos-sdk/internal/system_database';
import { GlobalLogger } from '@dbos-inc/dbos-sdk/internal/telemetry/logs';
import type pg from 'pg';
import type { Logger } from 'pino';
import { openPool } from '../db/pool.ts';
import { engineLogger } from './engine-log.ts';

/** Owner of every row in the engine's tables; they may be shared with other applications. */
export const APPLICATION = 'tradewind';
/**
 * Fixed by hand: by default it is a hash of the workflow's code, and every upgrade would strand pending tasks.
 * Raise it only when `task-workflow.ts` changes in a way that its recorded steps can't be replayed.
 */
export const ENGINE_VERSION = '1';
export const QUEUE = 'tasks';
export const WORKFLOW = 'task';
/** The engine wants the text to be there; every connection comes from the pool we give it. */
export const UNUSED_URL = 'postgresql://unused@localhost/unused';
export const SCHEMA = 'dbos';

const MIGRATION_LOCK = 0x7477_656e; // "twen"
const LOCK_RETRY_MS = 50;

/** What every process runs on: our pool, no listener, no console. */
export function connectClient(pool: pg.Pool, log: Logger): Promise<DBOSClient> {
  return DBOSClient.create({
    systemDatabaseUrl: UNUSED_URL,
    systemDatabasePool: pool,
    systemDatabaseSchemaName: SCHEMA,
    applicationName: APPLICATION,
    logger: engineLogger(log),
  });
}

/**
 * Makes or updates the engine's tables, in the schema `dbos` of the same database. Safe to run from several
 * processes at once. Needs a role that may create schemas in the database, no superuser.
 */
export async function migrateEngine(connection: pg.PoolConfig, log: Logger): Promise<void> {
  const pool = openPool({ ...connection, max: 2 });
  const lock = await pool.connect();
  try {
    // Trying, not waiting: a session that waits for a lock would hold up CREATE INDEX CONCURRENTLY for ever.
    while (!(await lock.query('select pg_try_advisory_lock($1) as held', [MIGRATION_LOCK])).rows[0].held) {
      await new Promise((resolve) => setTimeout(resolve, LOCK_RETRY_MS));
    }
    const logger = new GlobalLogger(undefined, { logger: engineLogger(log) });
    await ensureSystemDatabase(UNUSED_URL, logger, pool, SCHEMA, false);
  } finally {
    lock.release(true);
    await pool.end();
  }
}
