import type { Logger } from 'pino';
import type { BackendShapes } from '../../backends/contract/placement.ts';
import { makeAnew, wantsByPlace } from '../../convergence/wants.ts';
import { announce } from '../../db/changes.ts';
import type { Database, Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { SettingError } from '../../lib/operator-error.ts';
import { CatalogError } from './faults.ts';
import { movesBetween } from './moves.ts';
import { type Catalog, catalogOf } from './service.ts';
import * as store from './store.ts';

/** The topic on which another catalogue is announced. */
export const CATALOG_TOPIC = 'catalog';

/** This process has another catalogue than the database's processes work with. */
export class CatalogDiffersError extends SettingError {}

/** Another catalogue would part things from the backend that has them. */
export class BackendMovedError extends SettingError {}

/** What is shown of a hash: enough to tell two catalogues apart. */
export function shortHash(hash: string): string {
  return hash.slice(0, 12);
}

interface Agreement {
  database: Database;
  clock: Clock;
  catalog: Catalog;
  /** Where it was read. */
  folder: string;
  /** For people: the machine and the folder. */
  origin: string;
}

/**
 * Makes sure that this process offers what all on the database do. The first one decides; later ones bring the same, or
 * don't start. Where no other can be alive, what is in the folder is put in force.
 * @throws CatalogDiffersError, BackendMovedError
 */
export async function agreeOnCatalog(given: Agreement & { alone: boolean; log: Logger }): Promise<void> {
  const { database, catalog, folder, alone, log } = given;
  await database.transaction(async (tx) => {
    await store.lockCatalog(tx.sql);
    const inForce = await store.catalogInForce(tx.sql);
    if (inForce?.hash === catalog.hash) return;
    if (inForce && !alone) throw new CatalogDiffersError(difference(catalog, folder, inForce));
    if (inForce) await moveBackends(tx, given);
    await put(tx, given);
    if (inForce) log.info({ folder, before: inForce.origin }, 'Another catalogue comes into force');
  });
  log.info({ hash: shortHash(catalog.hash) }, 'The catalogue is agreed on');
}

/**
 * Puts the catalogue in force: every process that follows reads it when this is committed. `prepare` gives existing
 * projects what new regions need. Answers its number, and whether it was another before.
 * @throws BackendMovedError
 */
export async function applyCatalog(
  given: Agreement & { prepare(tx: Transaction): Promise<void> },
): Promise<{ revision: number; changed: boolean }> {
  return given.database.transaction(async (tx) => {
    await store.lockCatalog(tx.sql);
    const inForce = await store.catalogInForce(tx.sql);
    if (inForce && inForce.hash !== given.catalog.hash) await moveBackends(tx, given);
    await given.prepare(tx);
    if (inForce?.hash === given.catalog.hash) return { revision: inForce.revision, changed: false };
    return { revision: await put(tx, given), changed: true };
  });
}

/**
 * A region that is in use stays with its backends: others would make its things anew, and empty. Elsewhere the networks and
 * groups that every project has are made by the new one. @throws BackendMovedError
 */
async function moveBackends(tx: Transaction, { catalog, folder }: Agreement): Promise<void> {
  const before = await catalogOfDatabase(tx).catch((error: unknown) => {
    // One of a later release says nothing to this one.
    if (error instanceof CatalogError) return undefined;
    throw error;
  });
  if (!before) return;
  const { refused, moved } = movesBetween(before, catalog, await wantsByPlace(tx.sql));
  if (refused.length > 0) {
    throw new BackendMovedError(
      `The catalogue in ${folder} can't come into force:\n${refused.map((move) => `  ${move}\n`).join('')}` +
        'Put the backend back and delete what is there first, or offer the other in a region of its own.',
    );
  }
  await makeAnew(tx.sql, moved);
}

async function put(tx: Transaction, { clock, catalog, origin }: Agreement): Promise<number> {
  const { hash, text } = catalog;
  const revision = await store.putInForce(tx.sql, { hash, files: text, origin, applied_at: clock.now() });
  await announce(tx.client, CATALOG_TOPIC, revision);
  return revision;
}

/** The one in force; undefined before the first. @throws CatalogError where this release can't read it */
export async function catalogOfDatabase(
  { sql }: Pick<Database, 'sql'>,
  kinds?: BackendShapes,
): Promise<Catalog | undefined> {
  const inForce = await store.catalogFiles(sql);
  return inForce && catalogOf(inForce.files, inForce.origin, kinds);
}

/** What keeps this catalogue from being offered on this database; undefined when nothing does. */
export async function differenceTo(
  { sql }: Pick<Database, 'sql'>,
  catalog: Catalog,
  folder: string,
): Promise<string | undefined> {
  const inForce = await store.catalogInForce(sql);
  return inForce && inForce.hash !== catalog.hash ? difference(catalog, folder, inForce) : undefined;
}

function difference(
  { hash }: Catalog,
  folder: string,
  inForce: NonNullable<Awaited<ReturnType<typeof store.catalogInForce>>>,
): string {
  const when = inForce.applied_at.toISOString().slice(0, 16);
  return (
    `The catalogue in ${folder} (${shortHash(hash)}) is not the one that Tradewind works with on this database ` +
    `(${shortHash(inForce.hash)}, from ${inForce.origin}, ${when}Z). Put yours in force in every process with ` +
    '"tradewind catalog apply", or name the folder of the other in TRADEWIND_CATALOG_DIR.'
  );
}
