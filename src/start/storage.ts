import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { DataDirLockedError } from '../db/embedded/errors.ts';
import { startEmbeddedServer } from '../db/embedded/server.ts';
import { embeddedConnection } from '../db/embedded/socket.ts';
import { OperatorError } from '../lib/operator-error.ts';

const OLDEST_SERVER = 150_000;

/** Where the data is, and how to leave it. */
export interface Storage {
  connection: pg.PoolConfig;
  /** True when no other process may be using the database: it is embedded, and its folder is locked by us. */
  exclusive: boolean;
  stop(): Promise<void>;
}

/** False before the first start, which makes the embedded database. */
export function hasDatabase({ databaseUrl, dataDir }: Config): boolean {
  return databaseUrl !== undefined || fs.existsSync(path.join(dataDir, 'postgres'));
}

/** The database can't be used; the message is for the operator. */
export class StorageError extends OperatorError {}

/**
 * The database of the settings: the embedded one is started, one of your own is only checked.
 * With `mustExist`, none is made. With `share`, an embedded database that a running Tradewind has started is used through its socket.
 * @throws StorageError, EmbeddedDatabaseError, DataDirLockedError
 */
export async function openStorage(
  config: Config,
  log: Logger,
  { share = false, mustExist = false } = {},
): Promise<Storage> {
  if (config.databaseUrl !== undefined) {
    const connection = { connectionString: config.databaseUrl };
    await checkServer(connection);
    return { connection, exclusive: false, stop: async () => {} };
  }
  if (mustExist && !hasDatabase(config)) {
    throw new StorageError(
      `There is no database in ${config.dataDir} yet: start Tradewind once with "npm start", or name its folder with TRADEWIND_DATA_DIR`,
    );
  }
  try {
    const server = await startEmbeddedServer({ dataDir: config.dataDir, log: (line) => log.info(line) });
    return { connection: server.connection, exclusive: true, stop: () => server.stop() };
  } catch (error) {
    if (!share || !(error instanceof DataDirLockedError)) throw error;
    const folder = path.join(config.dataDir, 'run');
    if (!fs.existsSync(folder)) throw error;
    return {
      connection: embeddedConnection(fs.realpathSync(folder)),
      exclusive: false,
      stop: async () => {},
    };
  }
}

async function checkServer(connection: pg.ClientConfig): Promise<void> {
  let client: pg.Client | undefined;
  try {
    // Reads the URL, and the files that it names.
    client = new pg.Client({ ...connection, connectionTimeoutMillis: 10_000 });
    client.on('error', () => {});
    await client.connect();
    const { rows } = await client.query<{ version: number }>(
      `select current_setting('server_version_num')::int as version`,
    );
    const version = rows[0]?.version ?? 0;
    if (version < OLDEST_SERVER) {
      throw new StorageError(
        `DATABASE_URL names a PostgreSQL ${Math.floor(version / 10_000)}; 15 or newer is needed`,
      );
    }
  } catch (error) {
    if (error instanceof StorageError) throw error;
    throw new StorageError(
      `The database of DATABASE_URL can't be reached: ${(error as Error).message || (error as { code?: string }).code}`,
    );
  } finally {
    await client?.end().catch(() => {});
  }
}
