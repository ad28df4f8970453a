import { type Compilable, type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import pg from 'pg';
import type { Tables } from './tables.ts';

/**
 * Builds a query once and later only fills in its values: for statements of nearly every request, where
 * building the same text again takes longer than everything else. `build` must use each argument as a value
 * without looking at it, so that the text never depends on the arguments. Each connection keeps its plan.
 */
export function compiledQuery<A extends object, R>(
  build: (db: Kysely<Tables>, args: A) => CompiledQuery<R>,
): Statement<A, R> {
  let compiled: CompiledQuery<R> | undefined;
  const name = `compiled-${++named}`;
  return async (db, args) => {
    compiled ??= build(db, placeholders<A>());
    const parameters = compiled.parameters.map((value) =>
      value instanceof Placeholder ? args[value.name as keyof A] : value,
    );
    return run(db, { ...compiled, parameters }, name);
  };
}

/** A built query. On a transaction's own connection it is sent before the call returns. */
export type Statement<A extends object, R = unknown> = (db: Kysely<Tables>, args: A) => Promise<R[]>;

/** Each connection keeps the plans of so many varying statements; a client that varies its filters can't add more. */
const MOST_VARYING = 100;
const varying = new Map<string, string>();

/**
 * Runs a varying query so that PostgreSQL plans each of its texts once for each connection: for short lists of a table with many
 * partitions, where planning takes as long as everything else. What decides on an index must be in its text.
 */
export async function runPlanned<R>(db: Kysely<Tables>, query: Compilable<R>): Promise<R[]> {
  const compiled = query.compile();
  const { sql: text } = compiled;
  if (!varying.has(text) && varying.size < MOST_VARYING) varying.set(text, `varying-${varying.size + 1}`);
  return run(db, compiled, varying.get(text));
}

/** Sends a query, on a transaction's own connection before the call returns. */
async function run<R>(db: Kysely<Tables>, query: CompiledQuery<R>, name: string | undefined): Promise<R[]> {
  const direct = directWays.get(db);
  if (!direct) return (await db.executeQuery<R>(query)).rows;
  const { sql: text, parameters } = query;
  const values = [...parameters];
  // Given an object, the driver copies it property by property, which takes longer than everything else it does.
  if (name === undefined) return (await direct.query(text, values)).rows as R[];
  for (let plans = generation; ; plans = generation) {
    try {
      return (await direct.query({ name: `${name}-${plans}`, text, values })).rows as R[];
    } catch (error) {
      if (!isStalePlan(error)) throw error;
      // Others may have noticed it already. Connections keep the old plans until they are closed.
      if (plans === generation) generation++;
      // In a transaction nothing more can be done: it begins anew.
      if (direct instanceof pg.Client) throw error;
    }
  }
}

/** Part of the name of each plan. */
let generation = 0;
let named = 0;

/** Whether a newer release has added or changed a column since the statement was planned. */
export const isStalePlan = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery';

/**
 * Of a table that was nearly empty when a plan was made, PostgreSQL goes on reading every row until it analyses the table, up to a
 * minute later. So each connection makes its plans anew when it is taken after 1, 3, 7, 15, 31 and 63 seconds, and then no more.
 */
export function planAnew(pool: pg.Pool): void {
  const plans = new WeakMap<pg.PoolClient, { madeAt: number; keptMs: number }>();
  pool.on('connect', (client) => plans.set(client, { madeAt: performance.now(), keptMs: PLANS_KEPT_MS }));
  pool.on('acquire', (client) => {
    const made = plans.get(client);
    const now = performance.now();
    if (!made || made.keptMs > PLANS_LAST_KEPT_MS || now - made.madeAt < made.keptMs) return;
    plans.set(client, { madeAt: now, keptMs: made.keptMs * 2 });
    client.query('discard plans').catch(() => {});
  });
}
const PLANS_KEPT_MS = 1_000;
const PLANS_LAST_KEPT_MS = 60_000;

// Kysely's own way to the driver takes a dozen promises.
const directWays = new WeakMap<Kysely<Tables>, Pick<pg.Pool, 'query'>>();

/** Lets built queries go straight to what `db` sends them to. */
export function goStraight(db: Kysely<Tables>, target: Pick<pg.Pool, 'query'>): void {
  directWays.set(db, target);
}

/** Stands for the argument of that name in a built query. */
class Placeholder {
  readonly name: string | symbol;
  constructor(name: string | symbol) {
    this.name = name;
  }
}

function placeholders<A extends object>(): A {
  return new Proxy(
    {},
    {
      get: (_target, name) => new Placeholder(name),
      ownKeys() {
        throw new Error('A compiled query names its arguments one by one');
      },
    },
  ) as A;
}

/** What tables of things are keyed by. */
interface Named {
  kind: string;
  id: string;
}

/** The rows of these things, in SQL. */
export const namesIn = (list: readonly Named[]): RawBuilder<unknown> => rowsOf(json(list));

const json = (list: readonly Named[]) => JSON.stringify(list.map(({ kind, id }) => ({ kind, id })));
const rowsOf = (names: string) =>
  sql`select kind, id from jsonb_to_recordset(${names}::jsonb) as name (kind text, id uuid)`;

/**
 * Builds a statement about the rows of some things. One thing, as nearly always, has a text of its own: PostgreSQL takes
 * any list for a hundred things, and would rather read a table of thousands than look these up.
 */
export function ofNames<R>(
  build: (db: Kysely<Tables>, isNamed: RawBuilder<boolean>) => CompiledQuery<R>,
): Statement<readonly Named[], R> {
  const one = compiledQuery((db, { kind, id }: Named) => build(db, sql`kind = ${kind} and id = ${id}`));
  const several = compiledQuery((db, { names }: { names: string }) => build(db, sql`(kind, id) in (${rowsOf(names)})`));
  return (db, list) => {
    const [first, ...others] = list;
    return first && others.length === 0 ? one(db, first) : several(db, { names: json(list) });
  };
}
