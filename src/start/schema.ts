import type { Logger } from 'pino';
import { agreeOnCatalog } from '../cloud/ground/catalog/in-force.ts';
import type { Catalog } from '../cloud/ground/catalog/service.ts';
import { ensureExternalNetworks } from '../cloud/network/networks/external/in-transaction.ts';
import { prepareProjects } from '../cloud/network/project-changes/service.ts';
import type { Database, Transaction } from '../db/database.ts';
import { migrate, refusalNamed } from '../db/migrate.ts';
import { readSchema, requireFit, type Schema } from '../db/schema.ts';
import { ensureSigningKey } from '../iam/identity/signed-tokens.ts';
import type { OperatorError } from '../lib/errors.ts';
import { loop } from '../lib/loop.ts';
import type { Clock } from '../lib/time.ts';
import type { EncryptionKeys } from '../secrets/encryption-keys.ts';
import { prepareSecrets } from '../secrets/preparation.ts';
import type { LoadedSecrets } from '../secrets/secrets.ts';
import { ensureFirstAccount } from './first-account.ts';

const LOOK_MS = 10_000;

interface Contents {
  database: Database;
  clock: Clock;
  catalog: Catalog;
  /** Where the catalogue comes from. */
  source: { folder: string; origin: string };
  secrets: LoadedSecrets;
  encryptionKeys: EncryptionKeys;
  bootstrapToken: { id: number; secret: string } | undefined;
  /** Whether no other process can be using the database. */
  alone: boolean;
  log: Logger;
}

/** Makes sure that a database has its schema and what a process needs there: keys, the catalogue, the first account. */
export async function prepareContents(deps: Contents): Promise<void> {
  const { database, clock, catalog, source, secrets, encryptionKeys, bootstrapToken, alone, log } = deps;
  await prepareSchema(database, { alone, log });
  await prepareSecrets(secrets, { database, clock, encryptionKeys, alone, log });
  const prepare = (tx: Transaction) => ensureExternalNetworks(tx, catalog);
  await agreeOnCatalog({ database, clock, catalog, ...source, prepare, alone, log });
  await ensureFirstAccount({ database, clock, bootstrapToken });
  await ensureSigningKey({ database, clock, secrets });
  await database.transaction((tx) => prepareProjects(tx, catalog));
}

/**
 * Prepares the schema at a start. A process that has the database `alone` migrates it. A shared database is
 * left unchanged unless it is empty: then no other process can be disturbed, and of several that start at
 * once, one makes the tables (ADR 14).
 * @throws SchemaError if this release can't serve on it
 */
async function prepareSchema(database: Database, { alone, log }: { alone: boolean; log: Logger }): Promise<void> {
  const { empty } = await readSchemaOf(database);
  if (alone || empty) {
    if (empty) log.info('The database is empty; creating its tables');
    const applied = await migrate(database, { log: (line) => log.info(line), onlyIfEmpty: !alone });
    if (applied.length > 0) log.info({ migrations: applied.length }, 'The database schema is up to date');
  }
  const newest = (await requireSchema(database)).later.at(-1);
  if (newest !== undefined)
    log.info({ newest }, 'The schema of the database is newer than this release, which can work with it');
}

/** Watches whether a later release breaks this one while it runs. */
export function watchSchema(
  database: Database,
  log: Logger,
): { outgrown: Promise<OperatorError>; stop(): Promise<void> } {
  let tell: (refusal: OperatorError) => void;
  const outgrown = new Promise<OperatorError>((resolve) => {
    tell = resolve;
  });
  const look = async () => {
    const { refusal } = await readSchema(database.sql);
    if (refusal) tell(refusal);
  };
  // The start has looked.
  const watch = loop('checking the schema', LOOK_MS, log, look, LOOK_MS);
  return { outgrown, stop: () => watch.stop() };
}

/** @throws SchemaError if this release can't work on it */
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
