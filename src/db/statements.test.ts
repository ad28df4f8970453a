import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { listenForChanges } from './changes.ts';
import { type Database, openDatabase, together, withSavepoint } from './database.ts';
import { compiledQuery } from './statements.ts';

let own: TestDatabase;
let database: Database;
beforeAll(async () => {
  own = await createDatabase();
  database = openDatabase({ connectionString: own.url }, 2);
});
afterAll(async () => {
  await database.close();
  await own.drop();
});

it('is built once and gets the values of each call, on the pool and in a transaction', async () => {
  let built = 0;
  const insert = compiledQuery((db, args: { name: string; at: Date }) => {
    built++;
    return db.insertInto('resellers').values({ name: args.name, created_at: args.at }).compile();
  });
  const named = compiledQuery((db, args: { name: string; least: number }) =>
    db.selectFrom('resellers').select('name').where('name', '=', args.name).limit(args.least).compile(),
  );
  const at = new Date('2026-01-02T03:04:05Z');
  await insert(database.sql, { name: 'first', at });
  await database.transaction(async (tx) => {
    await insert(tx.sql, { name: 'second', at });
    expect(await named(tx.sql, { name: 'second', least: 1 })).toEqual([{ name: 'second' }]);
    expect(await named(database.sql, { name: 'second', least: 1 })).toEqual([]);
  });
  expect(await named(database.sql, { name: 'first', least: 1 })).toEqual([{ name: 'first' }]);
  expect(built).toBe(1);
});

it('refuses to be built from arguments that it can not name', async () => {
  const insert = compiledQuery((db, args: { name: string; created_at: Date }) =>
    db
      .insertInto('resellers')
      .values({ ...args })
      .compile(),
  );
  await expect(insert(database.sql, { name: 'third', created_at: new Date() })).rejects.toThrow('one by one');
});

it('keeps a plan on the connection, and plans anew once a newer release has added a column', async () => {
  const all = compiledQuery((db, args: { name: string }) =>
    db.selectFrom('resellers').selectAll().where('name', '=', args.name).compile(),
  );
  const found = () => all(database.sql, { name: 'first' });
  await database.transaction(async (tx) => {
    await all(tx.sql, { name: 'first' });
    const { rows } = await tx.client.query('select statement from pg_prepared_statements');
    expect(rows.map(({ statement }) => statement)).toContainEqual(expect.stringContaining('select * from "resellers"'));
  });
  await database.pool.query('alter table resellers add column of_a_newer_release text');
  expect(await Promise.all([found(), found()])).toMatchObject([[{ of_a_newer_release: null }], [{}]]);
  await database.pool.query('alter table resellers add column of_the_newest_release text');
  let attempts = 0;
  await database.transaction(async (tx) => {
    attempts++;
    expect(await all(tx.sql, { name: 'first' })).toMatchObject([{ of_the_newest_release: null }]);
  });
  expect(attempts).toBe(2);
});

describe('a statement that nobody waits for', () => {
  const at = new Date('2026-01-02T03:04:05Z');
  const insert = compiledQuery((db, args: { name: string | null }) =>
    db
      .insertInto('resellers')
      .values({ name: args.name as string, created_at: at })
      .compile(),
  );
  const named = async (name: string) =>
    (await database.sql.selectFrom('resellers').select('name').where('name', '=', name).execute()).length;

  it('is committed with the rest', async () => {
    await database.transaction(async (tx) => tx.send(insert, { name: 'sent' }));
    expect(await named('sent')).toBe(1);
  });

  it('fails the transaction, which tells what failed first', async () => {
    const alone = database.transaction(async (tx) => tx.send(insert, { name: null }));
    await expect(alone).rejects.toMatchObject({ code: '23502' });
    const followed = database.transaction(async (tx) => {
      tx.send(insert, { name: 'kept' });
      tx.send(insert, { name: null });
      await insert(tx.sql, { name: 'late' });
    });
    await expect(followed).rejects.toMatchObject({ code: '23502' });
    expect(await named('kept')).toBe(0);
  });

  it('fails the transaction with its own error, however late that is known', async () => {
    const explained = async (...given: Parameters<typeof insert>) =>
      insert(...given).catch(async () => {
        for (let turn = 0; turn < 20; turn++) await Promise.resolve();
        throw new Error('explained');
      });
    const failed = database.transaction(async (tx) => {
      tx.send(explained, { name: null });
      tx.send(insert, { name: 'behind it' });
      tx.last(async () => tx.send(insert, { name: 'last' }));
      // All answers are there when the first is read.
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100));
    });
    await expect(failed).rejects.toThrow('explained');
  });

  it('fails only the part that it belongs to', async () => {
    await database.transaction(async (tx) => {
      tx.send(insert, { name: 'before the part' });
      await expect(withSavepoint(tx, async (part) => part.send(insert, { name: null }))).rejects.toMatchObject({
        code: '23502',
      });
      tx.send(insert, { name: 'after the part' });
    });
    expect([await named('before the part'), await named('after the part')]).toEqual([1, 1]);
  });
});

describe('what is done last', () => {
  it('comes behind everything else, once for each attempt, and may fail the transaction', async () => {
    const done: string[] = [];
    const attempt = (fault: string) =>
      database.transaction(async (tx) => {
        tx.last(async () => {
          done.push('last');
          if (done.length < 3)
            await tx.client.query(`do $$ begin raise exception '' using errcode = '${fault}'; end $$`);
        });
        done.push('work');
      });
    await attempt('40001');
    expect(done).toEqual(['work', 'last', 'work', 'last']);
    done.length = 0;
    await expect(attempt('P0001')).rejects.toMatchObject({ code: 'P0001' });
    expect(done).toEqual(['work', 'last']);
  });

  it('belongs to the part of a transaction that asks for it', async () => {
    const done: string[] = [];
    await database.transaction(async (tx) => {
      tx.last(async () => void done.push('of all'));
      await withSavepoint(tx, async (part) => part.last(async () => void done.push('of the part')));
      done.push('behind the part');
    });
    expect(done).toEqual(['of the part', 'behind the part', 'of all']);
  });
});

it('announces what is committed, once, and nothing else', async () => {
  const changes = await listenForChanges({ connectionString: own.url });
  const heard: string[] = [];
  changes.on(
    'things',
    (key) => heard.push(key),
    () => {},
  );
  try {
    const failed = database.transaction(async (tx) => {
      tx.announce('things', 'undone');
      throw new Error('undone');
    });
    await expect(failed).rejects.toThrow('undone');
    await database.transaction(async (tx) => {
      tx.announce('things', 'done');
      tx.announce('things', 'done');
    });
    database.announce('things', 'end');
    await expect.poll(() => heard).toContain('end');
    expect(heard.filter((key) => key === 'done')).toHaveLength(1);
    expect(heard).not.toContain('undone');
  } finally {
    await changes.close();
  }
});

it('waits for all that is done together before it tells what failed', async () => {
  let over = false;
  const slow = new Promise<void>((resolve) => {
    setTimeout(() => {
      over = true;
      resolve();
    }, 20);
  });
  await expect(together(Promise.reject(new Error('failed')), slow)).rejects.toThrow('failed');
  expect(over).toBe(true);
});
