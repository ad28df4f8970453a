import { type Kysely, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '../../migrations/index.ts';
import { createIndexConcurrently, type SchemaMigration } from '../../migrations/migration.ts';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { SchemaError } from '../lib/errors.ts';
import { type Database, openDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import { type Migrations, readSchema, requireFit } from './schema.ts';

let migrated: TestDatabase;
let database: Database;
beforeEach(async () => {
  migrated = await createDatabase();
  database = openDatabase({ connectionString: migrated.url }, 4);
});
afterEach(async () => {
  await database.close();
  await migrated.drop();
});

const run = (text: string) => (db: Kysely<unknown>) =>
  sql
    .raw(text)
    .execute(db)
    .then(() => {});
const release = (...more: Record<string, SchemaMigration>[]): Migrations => Object.assign({}, migrations, ...more);
const expand = { '9001_expand': { up: run('alter table volumes add column note text') } };
const contract = (breaking: string) => ({
  '9002_contract': { up: run('alter table volumes drop column note'), breaking },
});
const serveOn = async (known: Migrations) => requireFit(await readSchema(database.sql, known));
function opening(): { opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
const volumesHave = async (column: string) => {
  const { rows } = await database.pool.query(
    `select from information_schema.columns where table_name = 'volumes' and column_name = $1`,
    [column],
  );
  return rows.length === 1;
};

describe('a release', () => {
  it('serves on its own schema and on a later one that breaks nothing', async () => {
    await serveOn(migrations);
    expect(await migrate(database, { known: release(expand) })).toEqual(['9001_expand']);
    await serveOn(release(expand));
    await serveOn(migrations);
    expect(await migrate(database)).toEqual([]);
    expect((await readSchema(database.sql)).later).toEqual(['9001_expand']);
  });

  it('does not serve on an older schema, and names the command', async () => {
    const fault = await serveOn(release(expand)).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(SchemaError);
    expect((fault as Error).message).toMatch(
      /older than this release: 1 migration is missing, starting with 9001_expand\. .* "tradewind migrate"/,
    );
  });

  it('does not serve on a schema that took away what it needs, which the database says itself', async () => {
    await migrate(database, { known: release(expand, contract('9002_contract')) });
    for (const known of [migrations, release(expand)]) {
      const refusal = expect.objectContaining({
        name: 'SchemaError',
        message: expect.stringMatching(
          /newer Tradewind: it has the migration 9002_contract, .* without 9002_contract cannot work/,
        ),
      });
      await expect(serveOn(known)).rejects.toEqual(refusal);
      await expect(migrate(database, { known })).rejects.toEqual(refusal);
    }
  });

  it('serves on it if it did without that before', async () => {
    await migrate(database, { known: release(expand, contract('9001_expand')) });
    await serveOn(release(expand));
    await expect(serveOn(migrations)).rejects.toThrow(/without 9001_expand/);
  });

  it('does not serve where another branch has been', async () => {
    await migrate(database, { known: release(expand) });
    await expect(serveOn(release({ '9000_mine': { up: run('select 1') } }))).rejects.toThrow(
      /migration 9001_expand, .* is 9000_mine\. It also lacks 9000_mine, so neither/,
    );
  });
});

describe('migrations', () => {
  it('are a transaction each: what went well stays, what failed can be repaired and run again', async () => {
    const failing = { '9002_failing': { up: run('alter table volumes add column more text; select 1 / 0') } };
    const known = release(expand, failing);
    await expect(migrate(database, { known })).rejects.toThrow(/^Migration 9002_failing failed: division by zero/);
    expect([await volumesHave('note'), await volumesHave('more')]).toEqual([true, false]);
    expect(await migrate(database, { known: release(expand, contract('9002_contract')) })).toEqual(['9002_contract']);
  });

  it('give way to whoever holds their locks, and say so', async () => {
    const holder = await database.pool.connect();
    await holder.query('begin; lock table volumes in row exclusive mode');
    const lines: string[] = [];
    const done = migrate(database, {
      known: release(expand),
      lockTimeoutMs: 50,
      log: (line) => {
        lines.push(line);
        void holder.query('commit');
      },
    });
    expect(await done).toEqual(['9001_expand']);
    holder.release();
    expect(lines).toEqual([
      expect.stringMatching(
        /9001_expand was blocked by other transactions \(.*lock timeout\); trying again, at most \d times/,
      ),
    ]);
  });

  it('are run by one process at a time; the other waits and says so', async () => {
    const gate = opening();
    const begun = opening();
    const slow = {
      '9001_slow': {
        async up() {
          begun.open();
          await gate.opened;
        },
      },
    };
    const known = release(slow);
    const first = migrate(database, { known });
    await begun.opened;
    const lines: string[] = [];
    const second = migrate(database, {
      known,
      log(line) {
        lines.push(line);
        gate.open();
      },
    });
    expect(await Promise.all([first, second])).toEqual([['9001_slow'], []]);
    expect(lines).toEqual(['Another process is migrating this database; waiting for it to finish']);
  });

  it('build an index outside a transaction, again after a failure, while another process waits for its turn', async () => {
    await database.pool.query('create table things (name text); insert into things values (1), (1)');
    const begun = opening();
    const lines: string[] = [];
    const known = release({
      '9001_index': {
        transaction: false,
        async up(db: Kysely<unknown>) {
          begun.open();
          await expect.poll(() => lines).toHaveLength(1);
          await createIndexConcurrently(db, 'things_by_name', 'things (name)', { unique: true });
        },
      },
    });
    const first = migrate(database, { known });
    await begun.opened;
    const second = migrate(database, { known, log: (line) => lines.push(line) });
    await expect(first).rejects.toThrow(/9001_index failed: could not create unique index/);
    await expect(second).rejects.toThrow(/9001_index failed: could not create unique index/);
    await database.pool.query('delete from things where ctid = (select ctid from things limit 1)');
    expect(await migrate(database, { known })).toEqual(['9001_index']);
    const { rows } = await database.pool.query(
      `select indisvalid as valid from pg_index where indexrelid = 'things_by_name'::regclass`,
    );
    expect(rows).toEqual([{ valid: true }]);
  });
});

describe('an empty database', () => {
  let empty: TestDatabase;
  let bare: Database;
  beforeEach(async () => {
    empty = await createDatabase({ empty: true });
    bare = openDatabase({ connectionString: empty.url }, 4);
  });
  afterEach(async () => {
    await bare.close();
    await empty.drop();
  });
  const tables = async () => {
    const { rows } = await bare.pool.query(`select to_regclass('tasks') is not null as there`);
    return rows[0].there;
  };

  it('gets all migrations or none', async () => {
    const index = {
      '9001_index': {
        transaction: false as const,
        up: (db: Kysely<unknown>) => createIndexConcurrently(db, 'one', 'volumes (name)'),
      },
    };
    const failing = { '9002_failing': { up: run('select 1 / 0') } };
    await expect(migrate(bare, { known: release(index, failing) })).rejects.toThrow(/9002_failing failed/);
    expect([await tables(), (await readSchema(bare.sql)).empty]).toEqual([false, true]);
    await migrate(bare, { known: release(index) });
    expect([await tables(), (await readSchema(bare.sql)).empty]).toEqual([true, false]);
  });

  it('is filled by one of those that start on it, whatever release the others are', async () => {
    const [one, other] = await Promise.all(
      [migrations, release(expand)].map((known) => migrate(bare, { known, onlyIfEmpty: true })),
    );
    expect([one?.length, other?.length].filter((count) => count !== 0)).toHaveLength(1);
  });
});
