import { type Kysely, type RawBuilder, sql } from 'kysely';
import { migrations } from '../../migrations/index.ts';
import type { SchemaMigration } from '../../migrations/migration.ts';
import { OperatorError, SchemaError } from '../lib/errors.ts';

export type Migrations = Record<string, SchemaMigration>;

/** The very first migration: a database that has it is Tradewind's. */
const [FIRST = ''] = Object.keys(migrations);

/** The state of a database's schema, compared with what a release knows. */
export interface Schema {
  /** Nothing of Tradewind exists there yet. */
  empty: boolean;
  /** Migrations of the release that the database lacks. */
  pending: string[];
  /** Why the release can't work with the schema, apart from `pending`; undefined if it can. */
  refusal: OperatorError | undefined;
  /** Migrations of the database that are from a later release. */
  later: string[];
}

/** Returns the state even if the release can't work with it; throws only if the database can't be queried. */
export async function readSchema<Tables>(db: Kysely<Tables>, known: Migrations = migrations): Promise<Schema> {
  const { rows: tables } = await sql<{ migrated: boolean; breaks: boolean }>`
    select to_regclass('kysely_migration') is not null as migrated, to_regclass('schema_breaks') is not null as breaks`.execute(
    db,
  );
  const column = async (there: boolean | undefined, query: RawBuilder<{ name: string }>) =>
    there ? (await query.execute(db)).rows.map(({ name }) => name) : [];
  const applied = await column(tables[0]?.migrated, sql`select name from kysely_migration order by name`);
  const needs = await column(tables[0]?.breaks, sql`select needs as name from schema_breaks order by needs`);
  const names = Object.keys(known);
  const later = applied.filter((name) => !Object.hasOwn(known, name));
  const pending = names.filter((name) => !applied.includes(name));
  return { empty: applied.length === 0, pending, later, refusal: refusalOf() };

  function refusalOf(): OperatorError | undefined {
    const last = later.at(-1);
    if (last === undefined) return undefined;
    if (!applied.includes(FIRST))
      return new OperatorError(
        `This database belongs to another program, whose migrations are in it (such as ${last}). Tradewind needs a database of its own`,
      );
    const needed = needs.filter((name) => !Object.hasOwn(known, name)).at(-1);
    const newer = `This database has the schema of a newer Tradewind: it has the migration ${last}, and the last one of this release is ${names.at(-1)}`;
    if (needed !== undefined)
      return new SchemaError(
        `${newer}. Releases without ${needed} cannot work with it: run the newer release or a later one, or restore an older backup (docs/operators.md)`,
      );
    // A later release knows all earlier migrations.
    if (pending.length > 0)
      return new SchemaError(
        `${newer}. It also lacks ${pending.at(-1)}, so neither release includes the other: run the release that migrated the database, or a later one that includes both`,
      );
    return undefined;
  }
}

/** @throws SchemaError if this release can't serve on the schema as it is, with the command that fixes it */
export function requireFit({ empty, refusal, pending }: Schema): void {
  if (refusal) throw refusal;
  const [next] = pending;
  if (next === undefined) return;
  if (empty)
    throw new SchemaError(
      'This database has no Tradewind tables yet: start Tradewind on it once, or run "tradewind migrate"',
    );
  const count = pending.length === 1 ? '1 migration is' : `${pending.length} migrations are`;
  throw new SchemaError(
    `The schema of the database is older than this release: ${count} missing, starting with ${next}. Run "tradewind migrate" of this release (docs/operators.md), then start again`,
  );
}
