import { randomUUID } from 'node:crypto';
import os from 'node:os';
import type { Logger } from 'pino';
import type { BackendShapes } from '../../backends/contract/placement.ts';
import type { ChangeFeed } from '../../db/changes.ts';
import type { Database } from '../../db/database.ts';
import { loop } from '../../lib/loop.ts';
import { CATALOG_TOPIC, shortHash } from './in-force.ts';
import { type Catalog, catalogOf } from './service.ts';
import * as store from './store.ts';

/** How long an announcement may be missed, and how often this process says what it works with. */
const REPORT_MS = 3_000;

/** The catalogue that is in force, in one process. */
export interface LiveCatalog {
  /** Always the one in force: look-ups in it cost what they cost in any other. */
  catalog: Catalog;
  /** Why it is an older one; undefined when it isn't. */
  problem(): string | undefined;
  stop(): Promise<void>;
}

/**
 * Reads the catalogue in force and from then on each that comes after it, on its announcement. One that this release can't
 * read, or whose backends this process can't adopt, changes nothing: the process goes on with the one before, and says so.
 * `agreed` is the one that this process started with.
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
  const reader = { id: randomUUID(), host: os.hostname(), pid: process.pid };
  const first = await store.catalogFiles(database.sql);
  if (!first) throw new Error('No catalogue is in force');
  let current = agreed?.hash === first.hash ? agreed : catalogOf(first.files, 'the database', kinds);
  backends.adopt(current);
  let { revision } = first;
  let refused: { revision: number; problem: string } | undefined;

  /** Reads what is in force, if it is another, and answers whether anything is new. */
  async function refresh(): Promise<boolean> {
    const found = await store.catalogFiles(database.sql);
    if (!found || found.revision === revision || found.revision === refused?.revision) return false;
    try {
      const next = found.hash === current.hash ? current : catalogOf(found.files, found.origin, kinds);
      backends.adopt(next);
      current = next;
      revision = found.revision;
      refused = undefined;
      log.info({ catalog: shortHash(found.hash), origin: found.origin }, 'Another catalogue is in force');
    } catch (error) {
      refused = { revision: found.revision, problem: (error as Error).message };
      log.error(
        { why: refused.problem },
        'The catalogue in force is no use to this release, which goes on with the one before',
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

  // One after the other, so that no older one comes last.
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

/** One object for whoever keeps it, which asks the catalogue of the moment. */
function standingFor(current: () => Catalog): Catalog {
  return new Proxy({} as Catalog, { get: (_none, name) => Reflect.get(current(), name) });
}
