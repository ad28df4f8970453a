import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startEmbeddedServer } from '../../src/db/embedded/server.ts';

export interface BenchDatabase {
  url: string;
  connection: { host: string; port: number; user: string; database: string };
  /** The database's own folder, removed with the database. */
  folder: string;
  stop(): Promise<void>;
}

/** Starts an embedded PostgreSQL with default settings in its own folder. */
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

/** Opens a pool whose connections may still be closing when the database stops. */
export function openPool(connection: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ ...connection, max: 1 });
  pool.on('error', () => {});
  return pool;
}
