import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { migrate } from '../db/migrate.ts';
import { refusalNamed } from '../db/refusals.ts';
import { readSchema, requireFit, type Schema } from '../db/schema.ts';
import { loop } from '../lib/loop.ts';
import type { OperatorError } from '../lib/operator-error.ts';

const LOOK_MS = 10_000;

/**
 * What a start does about the schema. `alone` with its database it migrates; one that it shares it leaves as it is, unless nothing
 * is in it: then no process can be in the way, and of several that start at once one makes it (ADR 14).
 * @throws SchemaError where this release can't serve on it
 */
export async function prepareSchema(
  database: Database,
  { alone, log }: { alone: boolean; log: Logger },
): Promise<void> {
  const { empty } = await readSchemaOf(database);
  if (alone || empty) {
    if (empty) log.info('The database is empty: its tables are made');
    const applied = await migrate(database, { log: (line) => log.info(line), onlyIfEmpty: !alone });
    if (applied.length > 0) log.info({ migrations: applied.length }, 'The database schema is up to date');
  }
  const newest = (await requireSchema(database)).later.at(-1);
  if (newest !== undefined)
    log.info({ newest }, 'The schema of the database is newer than this release, which can work with it');
}

/** Looks whether a later release breaks this one while it runs. */
export function watchSchema(
  database: Database,
  log: Logger,
): { outgrown: Promise<OperatorError>; stop(): Promise<void> } {
  let tell: (refusal: OperatorError) => void;
  const outgrown = new Promise<OperatorError>((resolve) => {
    tell = resolve;
  });
  const watch = loop('looking at the schema', LOOK_MS, log, async () => {
    const { refusal } = await readSchema(database.sql);
    if (refusal) tell(refusal);
  });
  return { outgrown, stop: () => watch.stop() };
}

/** @throws SchemaError where this release can't work on it */
export async function requireSchema(database: Database): Promise<Schema> {
  const schema = await readSchemaOf(database);
  requireFit(schema);
  return schema;
}

async function readSchemaOf({ sql, pool }: Database): Promise<Schema> {
  try {
    return await readSchema(sql);
  } catch (error) {
    throw (await refusalNamed(pool, error)) ?? error;
  }
}
