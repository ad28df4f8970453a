import type { CompiledQuery, Kysely } from 'kysely';
import type pg from 'pg';
import type { Tables } from './tables.ts';

/**
 * Builds a query once and later only fills in its values: for statements of nearly every request, where
 * building the same text again takes longer than everything else. `build` must use each argument as a value
 * without looking at it, so that the text never depends on the arguments.
 */
export function compiledQuery<A extends object, R>(
  build: (db: Kysely<Tables>, args: A) => CompiledQuery<R>,
): (db: Kysely<Tables>, args: A) => Promise<R[]> {
  let compiled: CompiledQuery<R> | undefined;
  return async (db, args) => {
    compiled ??= build(db, placeholders<A>());
    const parameters = compiled.parameters.map((value) =>
      value instanceof Placeholder ? args[value.name as keyof A] : value,
    );
    const direct = directWayOf(db);
    if (!direct) return (await db.executeQuery<R>({ ...compiled, parameters })).rows;
    return (await direct.query(compiled.sql, parameters)).rows as R[];
  };
}

// Kysely's own way to the driver takes a dozen promises.
const directWays = new WeakMap<Kysely<Tables>, Pick<pg.Pool, 'query'>>();

/** Lets built queries go straight to what `db` sends them to. */
export function goStraight(db: Kysely<Tables>, target: Pick<pg.Pool, 'query'>): void {
  directWays.set(db, target);
}

/** Returns where `goStraight` sends the queries of `db`. */
export function directWayOf(db: Kysely<Tables>): Pick<pg.Pool, 'query'> | undefined {
  return directWays.get(db);
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
