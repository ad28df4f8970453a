import type { Logger } from 'pino';
import type { Kind } from '../../../backends/contract/backend.ts';
import { type BackendShapes, familyOf, type Placements } from '../../../backends/contract/needs.ts';
import { makeAnew, wantsByRegion } from '../../../convergence/wants.ts';
import { announce } from '../../../db/changes.ts';
import type { Database, Transaction } from '../../../db/database.ts';
import { SettingError } from '../../../lib/errors.ts';
import type { Clock } from '../../../lib/time.ts';
import { CatalogError } from './faults.ts';
import { recordPriceBook } from './price-book.ts';
import { type Catalog, catalogOf } from './service.ts';
import * as store from './store.ts';

/** Kinds that every project has in every region from the beginning. Creating them again loses nothing. */
const FROM_THE_FIRST: readonly Kind[] = ['network', 'subnet', 'security_group'];

interface KindInRegion {
  regionId: number;
  kind: Kind;
}

/** Compares the backends of resources before and after. `moved` has a new backend; `refused` tells why it can't. */
export function movesBetween(
  before: Placements,
  after: Placements,
  there: readonly (KindInRegion & { count: number })[],
): { refused: string[]; moved: KindInRegion[] } {
  const inUse = new Set(there.filter(({ kind }) => !FROM_THE_FIRST.includes(kind)).map(({ regionId }) => regionId));
  const counts = new Map<string, number>();
  const moved: KindInRegion[] = [];
  for (const { regionId, kind, count } of there) {
    const family = familyOf(kind);
    const from = before.backendOf(regionId, family);
    const to = after.backendOf(regionId, family);
    if (!from || (from.name === to?.name && from.kind === to.kind)) continue;
    if (to) moved.push({ regionId, kind });
    if (!inUse.has(regionId)) continue;
    const what = to ? `gets ${family} from ${named(to)} instead of ${named(from)}` : 'is missing';
    const key = `region ${regionId} ${what}`;
    counts.set(key, (counts.get(key) ?? 0) + count);
  }
  const refused = [...counts].map(
    ([what, count]) => `${what}, but still has ${count} ${count === 1 ? 'resource' : 'resources'} there`,
  );
  return { refused, moved };
}

const named = ({ name, kind }: { name: string; kind: string }) => (name === kind ? name : `${name} (${kind})`);

/** The topic on which a new catalogue in force is announced. */
export const CATALOG_TOPIC = 'catalog';

/** Thrown when this process has another catalogue than the processes on its database. */
export class CatalogDiffersError extends SettingError {}

/** Thrown when a new catalogue would separate resources from the backend that has them. */
export class BackendMovedError extends SettingError {}

/** Returns the part of a hash that is shown: enough to tell two catalogues apart. */
export function shortHash(hash: string): string {
  return hash.slice(0, 12);
}

interface Agreement {
  database: Database;
  /** Makes of the database what the catalogue needs; in the transaction that puts it in force. */
  prepare(tx: Transaction): Promise<void>;
  clock: Clock;
  catalog: Catalog;
  folder: string;
  /** The machine and the folder, for people to read. */
  origin: string;
}

/**
 * Makes sure that all processes on the database offer the same. The first process puts its catalogue in force. Later
 * ones must have the same or don't start. If no other process can be alive, the catalogue in the folder is put in
 * force.
 * @throws CatalogDiffersError, BackendMovedError, and what `prepare` throws
 */
export async function agreeOnCatalog(given: Agreement & { alone: boolean; log: Logger }): Promise<void> {
  const { database, catalog, folder, alone, log } = given;
  await database.transaction(async (tx) => {
    await store.lockCatalog(tx.sql);
    const inForce = await store.catalogInForce(tx.sql);
    if (inForce?.hash === catalog.hash) return;
    if (inForce && !alone) throw new CatalogDiffersError(difference(catalog, folder, inForce));
    if (inForce) await moveBackends(tx, given);
    await given.prepare(tx);
    await put(tx, given);
    if (inForce) log.info({ folder, before: inForce.origin }, 'Catalogue changed');
  });
  log.info({ hash: shortHash(catalog.hash) }, 'Catalogue accepted');
}

/**
 * Puts the catalogue in force: after the commit, every process that follows the catalogue reads it. `record` notes a
 * change. Returns the revision, and whether the catalogue changed. @throws BackendMovedError, and what `prepare` throws
 */
export async function applyCatalog(
  given: Agreement & { record(tx: Transaction): Promise<void> },
): Promise<{ revision: number; changed: boolean }> {
  return given.database.transaction(async (tx) => {
    await store.lockCatalog(tx.sql);
    const inForce = await store.catalogInForce(tx.sql);
    if (inForce && inForce.hash !== given.catalog.hash) await moveBackends(tx, given);
    await given.prepare(tx);
    if (inForce?.hash === given.catalog.hash) return { revision: inForce.revision, changed: false };
    const revision = await put(tx, given);
    await given.record(tx);
    return { revision, changed: true };
  });
}

/**
 * Refuses new backends for a region that is in use, as they would create its resources again, empty. In other regions,
 * new backends create the networks and security groups that every project has. @throws BackendMovedError
 */
async function moveBackends(tx: Transaction, { catalog, folder }: Agreement): Promise<void> {
  const before = await catalogOfDatabase(tx).catch((error: unknown) => {
    // This release can't read a later release's catalogue, so it can't compare the two.
    if (error instanceof CatalogError) return undefined;
    throw error;
  });
  if (!before) return;
  const { refused, moved } = movesBetween(before, catalog, await wantsByRegion(tx.sql));
  if (refused.length > 0) {
    throw new BackendMovedError(
      `Can't apply the catalogue in ${folder}:\n${refused.map((move) => `  ${move}\n`).join('')}` +
        'Restore the backend and delete these resources first, or offer the new backend in a region of its own.',
    );
  }
  await makeAnew(tx.sql, moved);
}

async function put(tx: Transaction, { clock, catalog, origin }: Agreement): Promise<number> {
  const { hash, text } = catalog;
  const now = clock.now();
  const revision = await store.putInForce(tx.sql, { hash, files: text, origin, applied_at: now });
  await recordPriceBook(tx, text, now);
  await announce(tx.client, CATALOG_TOPIC, revision);
  return revision;
}

/** Returns the catalogue in force; undefined before the first. @throws CatalogError when this release can't read it */
export async function catalogOfDatabase({ sql }: Pick<Database, 'sql'>, kinds?: BackendShapes) {
  const inForce = await store.catalogFiles(sql);
  return inForce && catalogOf(inForce.files, inForce.origin, kinds);
}

/** Returns why this catalogue can't be offered on this database; undefined when it can. */
export async function differenceTo({ sql }: Pick<Database, 'sql'>, catalog: Catalog, folder: string) {
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
    `The catalogue in ${folder} (${shortHash(hash)}) differs from the one in force on this database ` +
    `(${shortHash(inForce.hash)}, from ${inForce.origin}, ${when}Z). Run "tradewind catalog apply" to put yours in force ` +
    'in every process, or set TRADEWIND_CATALOG_DIR to the folder of the other.'
  );
}
