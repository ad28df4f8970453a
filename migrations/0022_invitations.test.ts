import type { Kysely } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Database, openDatabase } from '../src/db/database.ts';
import { createDatabase, type TestDatabase } from '../test/support/databases.ts';
import { up } from './0022_invitations.ts';
import { migrations } from './index.ts';

let empty: TestDatabase;
let database: Database;
beforeAll(async () => {
  empty = await createDatabase({ empty: true });
  database = openDatabase({ connectionString: empty.url }, 2);
});
afterAll(async () => {
  await database.close();
  await empty.drop();
});

it('makes of a user whom an account blocked one who is blocked in each of their accounts', async () => {
  const { pool } = database;
  const db = database.sql as unknown as Kysely<unknown>;
  const earlier = Object.entries(migrations).filter(([name]) => name < '0022');
  for (const [, migration] of earlier) await migration.up(db);
  await pool.query(`
    insert into resellers (id, name, created_at) values (1, 'R', now());
    insert into clients (id, reseller_id, company, created_at) values (1, 1, 'A', now()), (2, 1, 'B', now());
    insert into users (id, client_id, email, platform_administrator, is_active, password_hash, created_at) values
      (1, 1, 'root@example.com', true, true, 'x', now()),
      (2, 1, 'blocked@example.com', false, false, 'x', now()),
      (3, 1, 'invited@example.com', false, true, null, now());
    insert into client_users (client_id, user_id, role_id, created_at)
      values (1, 1, 1, now()), (1, 2, 5, now()), (2, 2, 5, now()), (1, 3, 5, now())`);
  await up(db);
  const { rows: users } = await pool.query(
    'select id::int, is_active, pending, password_given, auth_types from users order by id',
  );
  const now = { is_active: true, pending: false, auth_types: ['password'] };
  expect(users).toEqual([
    { id: 1, ...now, password_given: false },
    { id: 2, ...now, password_given: true },
    { id: 3, ...now, password_given: false },
  ]);
  const { rows: places } = await pool.query(
    'select client_id::int as client, user_id::int as user from client_users where not is_active order by 1',
  );
  expect(places).toEqual([
    { client: 1, user: 2 },
    { client: 2, user: 2 },
  ]);
});
