import pg from 'pg';
import { expect, it } from 'vitest';
import { createDatabase } from '../../test/support/databases.ts';
import { isTransient, troubleWith } from './transient.ts';

it('a deadlock is called one, and not a database that can not be reached', async () => {
  const database = await createDatabase();
  const [one, other] = [0, 1].map(() => new pg.Client({ connectionString: database.url }));
  if (!one || !other) throw new Error();
  await Promise.all([one.connect(), other.connect()]);
  const lock = (client: pg.Client, number: number) => client.query(`select pg_advisory_xact_lock(${number})`);
  for (const [client, first] of [[one, 1] as const, [other, 2] as const]) {
    await client.query('begin');
    await lock(client, first);
  }
  const ended = await Promise.allSettled([lock(one, 2), lock(other, 1)]);
  const [fault] = ended.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  const wrapped = new Error('it could not be noted', { cause: fault });
  for (const error of [fault, wrapped]) {
    expect(isTransient(error)).toBe(true);
    expect(troubleWith('the database', error)).toMatch(/deadlock/);
  }
  await Promise.all([one.end(), other.end()]);
  await database.drop();
});

it('what can not be reached is called that', async () => {
  const nobody = new pg.Client({ connectionString: 'postgresql://nobody@127.0.0.1:1/nothing' });
  const error = await nobody.connect().catch((fault: unknown) => fault);
  expect(isTransient(error)).toBe(true);
  expect(troubleWith('the database', error)).toBe('the database can not be reached');
});
