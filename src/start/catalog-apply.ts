import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { CatalogError } from '../cloud/ground/catalog/faults.ts';
import { applyCatalog, shortHash } from '../cloud/ground/catalog/in-force.ts';
import { type CatalogReader, catalogReaders } from '../cloud/ground/catalog/readers.ts';
import { type Catalog, loadCatalog } from '../cloud/ground/catalog/service.ts';
import { ensureExternalNetworks } from '../cloud/network/networks/external/in-transaction.ts';
import { prepareProjects } from '../cloud/network/project-changes/service.ts';
import type { Config } from '../config.ts';
import type { Database, Transaction } from '../db/database.ts';
import { OperatorError } from '../lib/errors.ts';
import type { Clock } from '../lib/time.ts';
import type { Command } from './command.ts';
import { MAKERS } from './from-settings.ts';
import { type Answer, asRecordedOperator, type RecordCommand } from './operator.ts';

/** How long processes may take to adopt another catalogue; a killed process is forgotten by then. */
const PATIENCE_MS = 12_000;
const LOOK_MS = 100;

export const catalogApply: Command = {
  summary: 'apply the catalogue in TRADEWIND_CATALOG_DIR to every process',
  help: `  Checks the catalogue first. Running processes on the same data folder or database switch to it at once, without a
  restart; otherwise the next start uses it. A process that can't read it keeps the previous one and is listed.
`,
  options: {},
  json: true,
  async run(context) {
    const { config } = context;
    const catalog = await loadCatalog(config.catalogDir, MAKERS).catch((error: unknown) => {
      if (!(error instanceof CatalogError)) throw error;
      throw new CatalogError(config.catalogDir, error.faults, 'Nothing was changed.');
    });
    return asRecordedOperator(context, 'catalog apply', async (database, by) => {
      const applied = await putInForce(database, catalog, { config, ...by });
      return followedBy(database, catalog, { config, ...by, ...applied });
    });
  },
};

interface By {
  config: Config;
  record: RecordCommand;
  clock: Clock;
}

/** Where a catalogue is read, for this process and for people elsewhere. */
export function sourceOf({ catalogDir }: Config): { folder: string; origin: string } {
  return { folder: catalogDir, origin: `${os.hostname()}:${catalogDir}` };
}

/** @throws BackendMovedError, SettingError for external networks; they change nothing */
export function putInForce(
  database: Database,
  catalog: Catalog,
  { config, record, clock }: By,
): Promise<{ revision: number; changed: boolean }> {
  const prepare = async (tx: Transaction) => {
    await ensureExternalNetworks(tx, catalog);
    await prepareProjects(tx, catalog);
  };
  return applyCatalog({ database, clock, catalog, ...sourceOf(config), prepare, record });
}

/** Waits until the running processes have adopted it. @throws OperatorError naming those that didn't */
export async function followedBy(
  database: Database,
  catalog: Catalog,
  { config, revision, changed }: Pick<By, 'config'> & { revision: number; changed: boolean },
): Promise<Answer & { data: object }> {
  const readers = await takenOver(database, revision);
  // For projects that a process made meanwhile without knowing the new regions.
  await database.transaction((tx) => prepareProjects(tx, catalog));
  const late = readers.filter((reader) => reader.revision !== revision);
  const done = readers.length - late.length;
  const what = `The catalogue in ${config.catalogDir} (${shortHash(catalog.hash)}, ${catalog.regions.size} regions)`;
  const lines = [
    `${what} ${changed ? 'is now in force' : 'was already in force'}.`,
    readers.length === 0
      ? 'No process is running on this database; the next one to start uses it.'
      : `${done} of ${readers.length} ${readers.length === 1 ? 'process uses' : 'processes use'} it.`,
    ...late.map(
      ({ host, pid, problem }) =>
        `Process ${pid} on ${host} still uses the previous one: ${problem ?? 'it has not answered yet'}`,
    ),
  ];
  if (late.length > 0) throw new OperatorError(lines.join('\n'));
  const data = { revision, changed, hash: catalog.hash, regions: catalog.regions.size, readers };
  return { text: lines.join('\n'), data };
}

/** Returns the running processes, once each has adopted the catalogue or said why it can't. */
async function takenOver(database: Database, revision: number): Promise<CatalogReader[]> {
  for (let waited = 0; ; waited += LOOK_MS) {
    const readers = await catalogReaders(database);
    const waiting = readers.some((reader) => reader.revision !== revision && reader.refused !== revision);
    if (!waiting || waited >= PATIENCE_MS) return readers;
    await sleep(LOOK_MS);
  }
}
