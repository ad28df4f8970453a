import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { OperatorError } from '../lib/errors.ts';
import { type Database, openDatabase } from './database.ts';
import { migrate } from './migrate.ts';

let empty: TestDatabase;
let database: Database;
beforeEach(async () => {
  empty = await createDatabase({ empty: true });
  database = openDatabase({ connectionString: empty.url }, 2);
});
afterEach(async () => {
  await database.close();
  await empty.drop();
});

const refusal = async (of: Database) => {
  const error: unknown = await migrate(of).catch((fault: unknown) => fault);
  expect(error).toBeInstanceOf(OperatorError);
  return (error as Error).message;
};

it('leaves the database of another program alone, by its tables or its migrations', async () => {
  await database.pool.query('create table users (id int)');
  expect(await refusal(database)).toMatch(/is used by another program: .*"users".* a database of its own/);
  await database.pool.query('drop table users');
  await database.pool.query('delete from kysely_migration');
  await database.pool.query(`insert into kysely_migration values ('2020_init', now())`);
  expect(await refusal(database)).toMatch(/belongs to another program.*2020_init/);
});

it('names the role that may not, and what would let it', async () => {
  const role = `role_${randomUUID().slice(0, 8)}`;
  const admin = new pg.Client({ ...inject('postgres'), user: 'postgres', database: 'postgres' });
  await admin.connect();
  await admin.query(`create role ${role} login`);
  const url = new URL(empty.url);
  url.username = role;
  const stranger = openDatabase({ connectionString: url.href }, 2);
  try {
    // The role may not create the tables, nor read them once they exist.
    expect(await refusal(stranger)).toMatch(new RegExp(`"${role}" may not .* owner to "${role}"`));
    await migrate(database);
    expect(await refusal(stranger)).toMatch(new RegExp(`"${role}" may not .*kysely_migration.*reassign`));
  } finally {
    await stranger.close();
    await admin.query(`drop role ${role}`);
    await admin.end();
  }
});
