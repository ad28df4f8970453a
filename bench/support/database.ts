import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startEmbeddedServer } from '../../src/db/embedded/server.ts';

export interface BenchDatabase {
  url: string;
  connection: { host: string; port: number; user: string; database: string };
  /** A folder of its own; gone with the database. */
  folder: string;
  stop(): Promise<void>;
}

/** An embedded PostgreSQL with default settings, in a folder of its own. */
export async function startDatabase(): Promise<BenchDatabase> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-bench-'));
  const server = await startEmbeddedServer({ dataDir: path.join(folder, 'data'), log: () => {} });
  return {
    url: server.url,
    connection: server.connection,
    folder,
    async stop() {
      await server.stop();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
