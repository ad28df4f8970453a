import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startEmbeddedServer } from '../../postgres/server.ts';
import { BEHIND } from './child.ts';

export interface BenchDatabase {
  url: string;
  connection: { host: string; port: number; user: string; database: string };
  /** The database's own folder, removed with the database. */
  folder: string;
  /** Lets the bench go first. */
  goBehind(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts an embedded PostgreSQL in its own folder, with default settings but for those given. */
export async function startDatabase(settings: Readonly<Record<string, string>> = {}): Promise<BenchDatabase> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-bench-'));
  const server = await startEmbeddedServer({ dataDir: path.join(folder, 'data'), log: () => {}, settings });
  return {
    url: server.url,
    connection: server.connection,
    folder,
    async goBehind() {
      const client = new pg.Client(server.connection);
      await client.connect();
      // Those that are to come are children of the first, and inherit it.
      const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_activity');
      for (const pid of [server.pid, ...rows.map((row) => row.pid)]) {
        os.setPriority(pid, os.getPriority() + Number(BEHIND.at(-1)));
      }
      await client.end();
    },
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
