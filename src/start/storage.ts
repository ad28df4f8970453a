import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Logger } from 'pino';
import {
  DataDirLockedError,
  RELAXED,
  runningEmbedded,
  startEmbeddedServer,
  type Templates,
} from '../../postgres/index.ts';
import type { Config } from '../config.ts';
import { openDatabase } from '../db/database.ts';
import { migrate } from '../db/migrate.ts';
import type { Patience } from '../db/outages.ts';
import { OperatorError } from '../lib/errors.ts';

/** Modes that the driver treats as verify-full, although their names promise less. */
const VERIFYING = /([?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/;

/**
 * Returns how the driver reaches the database of a URL. It checks the server's certificate in every mode but `disable`
 * and `no-verify`, and warns in eight lines that this may change; writing verify-full avoids the warning.
 */
export function connectionTo(databaseUrl: string): pg.ClientConfig & { connectionString: string } {
  const asLibpq = /[?&]uselibpqcompat=true(&|$)/.test(databaseUrl);
  return {
    connectionString: asLibpq ? databaseUrl : databaseUrl.replace(VERIFYING, '$1verify-full'),
  };
}

const OLDEST_SERVER = 150_000;
/** Each connection to the embedded database is a process of its own, and opening one takes 3 ms. */
const IDLE_MS = 1_000;

/** What to do about errors of PostgreSQL and the network. */
const HINTS: Record<string, string> = {
  '28000': 'create that role, or correct the user in DATABASE_URL',
  '28P01': 'correct user and password in DATABASE_URL',
  '3D000': 'create it (createdb), or correct its name in DATABASE_URL',
  '42501': 'make the role its owner',
  ECONNREFUSED: 'start it, or correct host and port in DATABASE_URL',
  ENOTFOUND: 'correct the host in DATABASE_URL',
};
/** Codes of OpenSSL and Node for a certificate that isn't trusted. */
const CERTIFICATE = /CERT|UNABLE_TO_(GET|VERIFY)/;
const UNTRUSTED =
  'add sslrootcert=/file/of/its/authority.pem to DATABASE_URL, or sslmode=no-verify to accept any certificate';

/** How to connect to the database, and how to disconnect. */
export interface Storage {
  connection: pg.PoolConfig;
  /** True if no other process can be using the database: it is embedded, and we have locked its folder. */
  exclusive: boolean;
  stop(): Promise<void>;
}

/** Returns false before the first start, which makes the embedded database. */
export function hasDatabase({ databaseUrl, dataDir }: Config): boolean {
  return databaseUrl !== undefined || fs.existsSync(path.join(dataDir, 'postgres'));
}

/** The database can't be used; the message is for the operator. */
export class StorageError extends OperatorError {}

/**
 * Opens the configured database: the embedded one is started, an external one is only checked. With `mustExist`, none
 * is created. With `share`, an embedded database that a running Tradewind has started is used through its socket.
 * @throws StorageError, EmbeddedDatabaseError, DataDirLockedError
 */
export async function openStorage(
  config: Config,
  log: Logger,
  {
    share = false,
    mustExist = false,
    patiently = (work) => work(),
  }: { share?: boolean; mustExist?: boolean; patiently?: Patience } = {},
): Promise<Storage> {
  if (config.databaseUrl !== undefined) {
    const connection = connectionTo(config.databaseUrl);
    await patiently(() => checkServer(connection));
    return { connection, exclusive: false, stop: async () => {} };
  }
  if (mustExist && !hasDatabase(config)) {
    throw new StorageError(
      `There is no database in ${config.dataDir} yet: start Tradewind once with "npm start", or set TRADEWIND_DATA_DIR to its folder`,
    );
  }
  try {
    const say = (line: string) => log.info(line);
    const { dataDir, relaxed } = config;
    const more = relaxed ? { settings: RELAXED, templates: templates(config, say) } : {};
    const server = await startEmbeddedServer({ dataDir, log: say, ...more });
    if (config.relaxed) log.warn('TRADEWIND_DURABILITY=relaxed: if this machine crashes, the database may be lost');
    const connection = { ...server.connection, idleTimeoutMillis: IDLE_MS };
    return { connection, exclusive: true, stop: () => server.stop() };
  } catch (error) {
    if (!share || !(error instanceof DataDirLockedError)) throw error;
    const connection = runningEmbedded(config.dataDir);
    if (!connection) throw error;
    return { connection, exclusive: false, stop: async () => {} };
  }
}

/** For databases that already have their tables. Those in the data folder itself would serve no other one. */
function templates({ cacheDir, dataDir }: Config, log: (line: string) => void): Templates | undefined {
  if (cacheDir === undefined || !path.relative(dataDir, cacheDir).startsWith('..')) return undefined;
  const program = fileURLToPath(import.meta.url);
  const { size, mtimeMs } = fs.statSync(program);
  return {
    folder: path.join(cacheDir, 'databases'),
    contents: [program, size, mtimeMs].join('\n'),
    async fill(connection) {
      log('Creating tables that later folders begin with');
      const database = openDatabase(connection, 1);
      try {
        await migrate(database, { log });
      } finally {
        await database.close();
      }
    },
  };
}

async function checkServer(connection: pg.ClientConfig): Promise<void> {
  let client: pg.Client | undefined;
  try {
    // Parses the URL and reads the files that it names.
    client = new pg.Client({ ...connection, connectionTimeoutMillis: 10_000 });
    client.on('error', () => {});
    await client.connect();
    const { rows } = await client.query<{ version: number }>(
      `select current_setting('server_version_num')::int as version`,
    );
    const version = rows[0]?.version ?? 0;
    if (version < OLDEST_SERVER) {
      throw new StorageError(
        `DATABASE_URL points to PostgreSQL ${Math.floor(version / 10_000)}; 15 or newer is needed`,
      );
    }
  } catch (error) {
    if (error instanceof StorageError) throw error;
    const { message, code = '' } = error as NodeJS.ErrnoException;
    const hint = CERTIFICATE.test(code) ? UNTRUSTED : HINTS[code];
    const why = `The database of DATABASE_URL can't be reached: ${message || code}`;
    throw new StorageError(hint === undefined ? why : `${why}; ${hint}`, { cause: error });
  } finally {
    await client?.end().catch(() => {});
  }
}
