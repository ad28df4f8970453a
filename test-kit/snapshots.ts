import { keyOf, type Name, takeUpAgain } from '../src/convergence/wants.ts';
import type { Database, Transaction } from '../src/db/database.ts';
import { ConflictError, NotFoundError } from '../src/lib/errors.ts';
import { inDependencyOrder } from '../src/lib/lists.ts';
import { sendFromNowOn } from '../src/tradewind/webhooks/service.ts';
import type { Alone } from './turns.ts';

/** What belongs to the installation, and not to what is in it. */
const KEPT = [
  'kysely_migration',
  'kysely_migration_lock',
  'catalog',
  'catalog_readers',
  'price_books',
  'data_keys',
  'signing_keys',
  'workers',
  // Listeners have been told of them, and no position may come twice.
  'events',
  'forgotten_events',
  'event_readers',
];
type Connection = Transaction['client'];

/** Written at any time, also by what began before a reset: their numbers go on. */
export const LOGS = ['user_actions', 'login_attempts', 'events', 'webhook_deliveries'];
const SCHEMA = 'test_snapshot_';
/** How it began: what a reset brings back. */
const BEGINNING = 'beginning';

/** Copies of everything in the database, to go back to. */
export interface Snapshots {
  /** Keeps everybody from writing. What is just being written has to be there before it is deleted. */
  lock(client: Connection): Promise<void>;
  /** Keeps how it began. Call it once, before anything is made. */
  begin(): Promise<void>;
  reset(): Promise<void>;
  /** @throws ConflictError if there is one of that name */
  take(name: string): Promise<void>;
  /** @throws NotFoundError */
  restore(name: string): Promise<void>;
  /** @throws NotFoundError */
  remove(name: string): Promise<void>;
  list(): Promise<string[]>;
}

/** What was wanted before a reset and is not any more, and the keys of what is wanted now. */
export interface Changed {
  gone: readonly Name[];
  there: ReadonlySet<string>;
}

/** `restored` is called when everything has become something else. No other turn begins before it is over. */
export function createSnapshots(
  database: Database,
  alone: Alone,
  restored: (changed: Changed) => Promise<void>,
): Snapshots {
  // Finding the tables takes longer than deleting a hundred rows, so it is done once.
  let all: Table[] = [];

  async function lock(client: Connection): Promise<void> {
    if (all.length === 0) all = await tablesOf(client);
    try {
      await lockAll(client, all);
    } catch (error) {
      // One of them may have been dropped since.
      all = [];
      throw error;
    }
  }

  async function copy(name: string): Promise<void> {
    // All tables as of the same moment, whatever is going on.
    await alone(lock, async ({ client }) => {
      const schema = quoted(name);
      await client.query(`create schema ${schema}`);
      const filled = await filledOf(client, 'public');
      await client.query(
        all
          .filter(({ table }) => filled.has(table))
          .map(({ table, columns }) => `create table ${schema}.${table} as select ${columns} from public.${table}`)
          .join(';'),
      );
      const values = (await sequencesOf(client)).map(
        (name) => `select '${name}' as name, last_value, is_called from public.${name}`,
      );
      await client.query(`create table ${schema}.sequence_values as ${values.join(' union all ')}`);
    });
  }

  async function bring(name: string): Promise<void> {
    await alone(
      lock,
      async (tx): Promise<Changed> => {
        const { client } = tx;
        const schema = quoted(name);
        const filled = { now: await filledOf(client, 'public'), kept: await filledOf(client, schema), schema };
        const tables = await changedOf(client, all, filled);
        const before = await wanted(client);
        await withoutTriggers(client, tables, () => exchange(client, tables, filled));
        await takeUpAgain(tx);
        await sendFromNowOn(tx);
        const there = new Set((await wanted(client)).map(keyOf));
        return { gone: before.filter((one) => !there.has(keyOf(one))), there };
      },
      restored,
    );
  }

  async function list(): Promise<string[]> {
    const { rows } = await database.pool.query<{ name: string }>(
      `select substr(nspname, $2) as name from pg_namespace where starts_with(nspname, $1) order by 1`,
      [SCHEMA, SCHEMA.length + 1],
    );
    return rows.map(({ name }) => name).filter((name) => name !== BEGINNING);
  }

  async function requireKnown(name: string): Promise<void> {
    if (!(await list()).includes(name)) throw new NotFoundError('Snapshot', name);
  }

  const drop = (name: string) => database.pool.query(`drop schema if exists ${quoted(name)} cascade`);

  return {
    lock,
    async begin() {
      // From a former run.
      for (const name of [...(await list()), BEGINNING]) await drop(name);
      await copy(BEGINNING);
    },
    reset: () => bring(BEGINNING),
    async take(name) {
      if (name === BEGINNING || (await list()).includes(name)) {
        throw new ConflictError(`There is a snapshot ${name} already; remove it first, or choose another name`);
      }
      await copy(name);
    },
    async restore(name) {
      await requireKnown(name);
      await bring(name);
    },
    async remove(name) {
      await requireKnown(name);
      await drop(name);
    },
    list,
  };
}

async function lockAll(client: Connection, tables: Table[]): Promise<void> {
  const named = (names: string[]) => names.map((table) => `public.${table}`).join(', ');
  // Nobody may read those whose references are changed. Readers of them may be about to write to others.
  const changed = [...new Set(circularReferences(tables).map(({ table }) => table))];
  if (changed.length > 0) await client.query(`lock table ${named(changed)} in access exclusive mode`);
  await client.query(`lock table ${named(tables.map(({ table }) => table))} in exclusive mode`);
}

/** Returns the tables of a schema that may have rows: a table without pages has none. */
async function filledOf(client: Connection, schema: string): Promise<Set<string>> {
  const { rows } = await client.query<{ table: string }>(
    `select format('%I', relname) as table from pg_class where oid in (
       select coalesce(pg_partition_root(oid), oid) from pg_class
       where relkind = 'r' and relnamespace = $1::regnamespace and pg_relation_size(oid) > 0)`,
    [schema],
  );
  return new Set(rows.map(({ table }) => table));
}

/** Returns the tables that are not as they were, and those that refer to them. */
async function changedOf(client: Connection, all: Table[], { now, kept, schema }: Filled): Promise<Table[]> {
  const tables = all.filter(({ table }) => now.has(table) || kept.has(table));
  const sums = (of: string, { table, columns }: Table) =>
    `(select row(count(*), sum(hashtextextended(row(${columns})::text, 0)))::text from ${of}.${table})`;
  // A table keeps its pages when its rows are gone.
  const isSame = (one: Table) =>
    kept.has(one.table)
      ? `${sums('public', one)} = ${sums(schema, one)}`
      : `not exists (select from public.${one.table})`;
  const { rows } = await client.query<{ table: string }>(
    tables.map((one) => `select '${one.table}' as table where ${isSame(one)}`).join(' union all '),
  );
  const same = new Set(rows.map(({ table }) => table));
  const changed = new Set(tables.map(({ table }) => table).filter((table) => !same.has(table)));
  // What is added meanwhile is gone through as well, so references are followed all the way.
  for (const one of changed)
    for (const { table, refers } of tables) if (refers.some(({ to }) => to === one)) changed.add(table);
  return tables.filter(({ table }) => changed.has(table));
}

async function wanted(client: Connection): Promise<Name[]> {
  return (await client.query<Name>('select kind, id from wants')).rows;
}

async function exchange(client: Connection, tables: Table[], { now, kept, schema }: Filled): Promise<void> {
  await client.query(
    tables
      .filter(({ table }) => now.has(table))
      .toReversed()
      .map(({ table }) => `delete from public.${table}`)
      .join(';'),
  );
  await client.query(
    tables
      .filter(({ table }) => kept.has(table))
      .map(
        ({ table, columns }) =>
          `insert into public.${table} (${columns}) overriding system value select ${columns} from ${schema}.${table}`,
      )
      .join(';'),
  );
  await client.query(
    `select setval(('public.' || name)::regclass, last_value, is_called) from ${schema}.sequence_values`,
  );
}

/** Names consist of letters, digits, - and _. */
const quoted = (name: string): string => `"${SCHEMA}${name}"`;

/** Rows are put back as they were: nothing is to be counted, metered or numbered again. */
async function withoutTriggers(client: Connection, tables: Table[], work: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ table: string }>(
    `select distinct format('public.%I', relname) as table from pg_class join pg_trigger on tgrelid = pg_class.oid
     where not tgisinternal and tgparentid = 0 and relnamespace = 'public'::regnamespace
       and format('%I', relname) = any($1) order by 1`,
    [tables.map(({ table }) => table)],
  );
  const circular = circularReferences(tables);
  const change = (triggers: 'disable' | 'enable', references: 'deferrable' | 'not deferrable') =>
    client.query(
      [
        ...rows.map(({ table }) => `alter table ${table} ${triggers} trigger user`),
        ...circular.map(({ table, name }) => `alter table public.${table} alter constraint ${name} ${references}`),
      ].join(';'),
    );
  await change('disable', 'deferrable');
  await client.query('set constraints all deferred');
  await work();
  await client.query('set constraints all immediate');
  await change('enable', 'not deferrable');
}

/** Returns the references to tables that come later, which have to wait for them. */
function circularReferences(tables: Table[]): { table: string; name: string }[] {
  const places = new Map(tables.map(({ table }, place) => [table, place]));
  return tables.flatMap(({ table, refers }, place) =>
    refers
      .filter(({ to, deferrable }) => !deferrable && (places.get(to) ?? -1) > place)
      .map(({ name }) => ({ table, name })),
  );
}

/** Which tables may have rows, in `public` now and in the copy, and the schema of the copy. */
interface Filled {
  now: Set<string>;
  kept: Set<string>;
  schema: string;
}

interface Table {
  table: string;
  /** All but those that are computed. */
  columns: string;
  refers: { to: string; name: string; deferrable: boolean }[];
}

async function sequencesOf(client: Connection): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select format('%I', sequencename) as name from pg_sequences
     where schemaname = 'public' and not exists (select from unnest($1::text[]) as log where starts_with(sequencename, log))`,
    [LOGS],
  );
  return rows.map(({ name }) => name);
}

/** Returns the tables, each after those that it refers to. */
async function tablesOf(client: Connection): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `select format('%I', relname) as table,
       (select string_agg(format('%I', attname), ', ' order by attnum) from pg_attribute
        where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
       coalesce((
         select jsonb_agg(jsonb_build_object('to', format('%I', other.relname), 'name', format('%I', conname),
           'deferrable', condeferrable))
         from pg_constraint join pg_class as other on other.oid = confrelid
         where conrelid = pg_class.oid and contype = 'f' and confrelid <> conrelid and conparentid = 0), '[]') as refers
     from pg_class
     where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace
       and relname <> all($1) order by relname`,
    [KEPT],
  );
  return inDependencyOrder(
    rows,
    ({ table }) => table,
    ({ refers }) => refers.map(({ to }) => to),
  );
}
