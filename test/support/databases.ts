import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject, vi } from 'vitest';

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
    await admin.query(`create database ${name} template ${empty ? 'template0' : TEMPLATE}`);
  });
  return {
    url: `postgresql://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
    // A running autovacuum belongs to the superuser, whom this role may not disconnect; it ends by itself.
    drop: () =>
      asAdmin((admin) =>
        vi.waitFor(() => admin.query(`drop database if exists ${name} with (force)`), {
          timeout: 30_000,
          interval: 200,
        }),
      ),
  };
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
