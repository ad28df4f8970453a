import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { inject, vi } from 'vitest';
import { SOON } from './http-client.ts';

export const TEMPLATE = 'tradewind_template';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** Creates a database for the caller: migrated, or completely empty. */
export async function createDatabase({ empty = false } = {}): Promise<TestDatabase> {
  const { host, port, user } = inject('postgres');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await asAdmin(async (admin) => {
    // Two files that copy the template at the same moment would disturb each other.
    await admin.query(`select pg_advisory_lock(hashtext('copy template'))`);
    // Copying files costs half of writing each page to the log: without fsync, the checkpoint that it asks for is quick.
    await admin.query(`create database ${name} template ${empty ? 'template0' : TEMPLATE} strategy file_copy`);
  });
  return {
    url: `postgresql://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
    drop: () =>
      asAdmin(async (admin) => {
        await connectionsEnded(admin, name);
        // A running autovacuum belongs to the superuser, whom this role may not disconnect; it ends by itself.
        await vi.waitFor(() => admin.query(`drop database if exists ${name} with (force)`), SOON);
      }),
  };
}

/** Waits a moment for connections that are just closing: to cut them off would be an error that nobody expects. */
async function connectionsEnded(admin: pg.Client, name: string): Promise<void> {
  for (let round = 0; round < 25; round++) {
    const { rows } = await admin.query(
      `select from pg_stat_activity where datname = $1 and backend_type = 'client backend' limit 1`,
      [name],
    );
    if (rows.length === 0) return;
    await sleep(20);
  }
}

async function asAdmin(work: (admin: pg.Client) => Promise<unknown>): Promise<void> {
  const { host, port, user } = inject('postgres');
  const admin = new pg.Client({ host, port, user, database: 'postgres' });
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}
