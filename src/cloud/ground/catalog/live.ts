import os from 'node:os';
import type { Logger } from 'pino';
import type { BackendShapes } from '../../../backends/contract/needs.ts';
import type { ChangeFeed } from '../../../db/changes.ts';
import type { Database } from '../../../db/database.ts';
import { newId } from '../../../lib/ids.ts';
import { loop } from '../../../lib/loop.ts';
import { CATALOG_TOPIC, shortHash } from './in-force.ts';
import { type Catalog, catalogOf } from './service.ts';
import * as store from './store.ts';

/** How often a process reports the catalogue it works with, and at most how late it notices a missed announcement. */
const REPORT_MS = 3_000;

/** The catalogue in force, as one process sees it. */
export interface LiveCatalog {
  /** Always the catalogue in force. Look-ups cost the same as in any other catalogue. */
  catalog: Catalog;
  /** Why the process works with an older catalogue; undefined when it doesn't. */
  problem(): string | undefined;
  stop(): Promise<void>;
}

/**
 * Reads the catalogue in force, and each later one when it is announced. If this release can't read a later one, or
 * this process can't adopt its backends, the process keeps the previous one and says so. `agreed` is the catalogue
 * that this process started with.
 */
export async function followCatalog(deps: {
  database: Database;
  changes: ChangeFeed;
  log: Logger;
  agreed?: Catalog;
  kinds: BackendShapes;
  backends: { adopt(catalog: Catalog): void };
}): Promise<LiveCatalog> {
  const { database, changes, log, agreed, kinds, backends } = deps;
  const reader = { id: newId(), host: os.hostname(), pid: process.pid };
  const first = await store.catalogFiles(database.sql);
  if (!first) throw new Error('No catalogue is in force');
  let current = agreed?.hash === first.hash ? agreed : catalogOf(first.files, 'the database', kinds);
  backends.adopt(current);
  let { revision } = first;
  let refused: { revision: number; problem: string } | undefined;

  /** Reads the catalogue in force if it is a new one. Returns whether anything is new. */
  async function refresh(): Promise<boolean> {
    const found = await store.catalogFiles(database.sql);
    if (!found || found.revision === revision || found.revision === refused?.revision) return false;
    try {
      const next = found.hash === current.hash ? current : catalogOf(found.files, found.origin, kinds);
      backends.adopt(next);
      current = next;
      revision = found.revision;
      refused = undefined;
      log.info({ catalog: shortHash(found.hash), origin: found.origin }, 'Catalogue changed');
    } catch (error) {
      refused = { revision: found.revision, problem: (error as Error).message };
      log.error(
        { why: refused.problem },
        "This release can't use the catalogue in force; it keeps using the previous one",
      );
    }
    return true;
  }

  async function report(): Promise<void> {
    const inForce = await store.reportReader(database.sql, {
      ...reader,
      revision,
      refused: refused?.revision ?? null,
      problem: refused?.problem ?? null,
    });
    if (inForce === undefined || inForce === revision || inForce === refused?.revision) return;
    if (await refresh()) await report();
  }

  // Runs reports one after the other, so that an older catalogue never replaces a newer one.
  let last = Promise.resolve();
  const reportNext = () => {
    last = last.then(report, report);
    return last;
  };
  const announced = () =>
    void reportNext().catch((error: unknown) => log.debug({ err: error }, 'following the catalogue failed'));
  changes.on(CATALOG_TOPIC, announced, announced);
  const reports = loop('following the catalogue', REPORT_MS, log, reportNext);
  return {
    catalog: standingFor(() => current),
    problem: () => refused?.problem,
    async stop() {
      await reports.stop();
      await last.catch(() => {});
      await store.forgetReader(database.sql, reader.id).catch(() => {});
    },
  };
}

/** Returns one object that callers can keep. It always reads from the current catalogue. */
function standingFor(current: () => Catalog): Catalog {
  return new Proxy({} as Catalog, { get: (_none, name) => Reflect.get(current(), name) });
}
