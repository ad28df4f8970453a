// Writes src/db/tables.ts. Run it after a new migration; a test compares them.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startEmbeddedServer } from '../postgres/server.ts';
import { openDatabase } from '../src/db/database.ts';
import { migrate } from '../src/db/migrate.ts';
import { TABLES_FILE, tablesOf } from './tables/generate.ts';

const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-tables-'));
const server = await startEmbeddedServer({ dataDir, log: () => {} });
try {
  const database = openDatabase(server.connection);
  await migrate(database);
  fs.writeFileSync(TABLES_FILE, await tablesOf(database));
  await database.close();
} finally {
  await server.stop();
  fs.rmSync(dataDir, { recursive: true, force: true });
}
