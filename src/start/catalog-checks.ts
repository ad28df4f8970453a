import { sql } from 'kysely';
import { pino } from 'pino';
import { createBackends, type NamedBackend } from '../backends/backends.ts';
import type { Inspection, Kind, Offered } from '../backends/contract/backend.ts';
import { troubleOf } from '../backends/health.ts';
import type { Makers } from '../backends/maker.ts';
import type { Catalog } from '../cloud/ground/catalog/service.ts';
import { countByRegion } from '../cloud/network/networks/external/service.ts';
import type { Config } from '../config.ts';
import { compare, type Orphan } from '../convergence/orphans.ts';
import { openDatabase, type Sql } from '../db/database.ts';
import { untilAborted } from '../lib/loop.ts';
import { isoSeconds } from '../lib/time.ts';
import { encryptionKeysOf } from '../secrets/encryption-keys.ts';
import { createSecrets } from '../secrets/secrets.ts';
import { LIVES } from '../worker/heartbeat.ts';
import { type Finding, limited, missing, ok, runningDatabase } from './checks.ts';
import { hostOf } from './from-settings.ts';

/** How long a backend may take to list everything that it has. */
const LIST_MS = 10_000;
/** How long it may take to compare itself with the catalogue. */
const INSPECT_MS = 10_000;
const log = pino({ level: 'silent' });

/** Looks at what the catalogue names: its backends, its public addresses, who works on its regions, and what is in maintenance. */
export async function catalogFindings(config: Config, catalog: Catalog, makers: Makers): Promise<Finding[]> {
  const found = [
    backendFindings(config, catalog, makers),
    addressFindings(config, catalog),
    workerFindings(config, catalog),
    maintenanceFindings(config),
  ];
  return (await Promise.all(found)).flat();
}

/** Returns the health of each backend in the catalogue, and whether it has orphans. */
export async function backendFindings(config: Config, catalog: Catalog, makers: Makers): Promise<Finding[]> {
  const connection = runningDatabase(config);
  // Without a database, checks that need one are skipped.
  const database = openDatabase(connection ?? {}, 2);
  const { sql } = database;
  try {
    const secrets = createSecrets({ sql, encryptionKeys: encryptionKeysOf(config) });
    const backends = createBackends(makers, { sql, secrets, ...hostOf(config) });
    backends.adopt(catalog);
    // Before the first start or without a connection, which is reported elsewhere, there is nothing to compare with.
    const answers = connection !== undefined && (await hasWants());
    return await Promise.all(
      backends.all().map(async (named) => {
        const trouble = await troubleOf(named.backend, log);
        const what = `Backend ${named.name}`;
        if (trouble !== undefined) return missing(what, trouble);
        const { has, lacks } = await inspected(named, catalog);
        const about = [named.backend.about?.(), has].filter((text) => text !== undefined);
        const detail = [`of the kind ${catalog.backends.get(named.name)?.kind}`, ...about].join('; ');
        const fault = answers ? await orphanFault(sql, named) : undefined;
        const faults = [...lacks, ...(fault === undefined ? [] : [fault])];
        return faults.length === 0 ? ok(what, detail) : limited(what, `${detail}; ${faults.join('; ')}`);
      }),
    );
  } catch (error) {
    return [missing('Backends', (error as Error).message)];
  } finally {
    await database.close();
  }

  async function hasWants(): Promise<boolean> {
    try {
      await sql.selectFrom('wants').select('id').limit(1).execute();
      return true;
    } catch {
      return false;
    }
  }
}

/** Compares what a backend has with what the catalogue offers there. */
async function inspected(
  { backend, regionsOf }: NamedBackend,
  catalog: Catalog,
): Promise<Partial<Inspection> & { lacks: string[] }> {
  if (!backend.inspect) return { lacks: [] };
  const signal = AbortSignal.timeout(INSPECT_MS);
  try {
    return await untilAborted(signal, backend.inspect(offeredIn(catalog, regionsOf), { log, signal }));
  } catch (error) {
    const problem = signal.aborted ? `no answer within ${INSPECT_MS / 1_000} s` : (error as Error).message;
    return { lacks: [`it could not be compared with the catalogue: ${problem}`] };
  }
}

function offeredIn(catalog: Catalog, regionsOf: NamedBackend['regionsOf']): Offered {
  const offered = (kind: Kind, of: (regionId: number) => readonly string[]) => [
    ...new Set(regionsOf(kind).flatMap(of)),
  ];
  const regionIn = (id: number) => catalog.regions.get(id);
  return {
    flavors: offered('machine', (id) =>
      catalog
        .flavors(id)
        .filter((one) => !one.disabled && one.offered_for.includes('instances'))
        .map((one) => one.flavor_id),
    ),
    images: offered('volume', (id) => catalog.images(id).map((image) => image.id)),
    networks: offered('network', (id) => regionIn(id)?.external_networks.map((network) => network.id) ?? []),
    volumeTypes: offered('volume', (id) => regionIn(id)?.available_volume_types ?? []),
  };
}

/** An alert of deploy/prometheus has the same limit. */
const FEW_LEFT = 0.05;

/** Names the regions that will soon have no public address to give. */
export const addressFindings = (config: Config, catalog: Catalog): Promise<Finding[]> =>
  withDatabase(config, async (db) => {
    const what = 'Public addresses';
    const counted = (await countByRegion(db)).filter(({ family }) => family === 'IPv4');
    const few = counted.filter(
      ({ regionId, free, inUse }) => catalog.regions.has(regionId) && free < (free + inUse) * FEW_LEFT,
    );
    if (few.length === 0) return counted.length === 0 ? [] : [ok(what, 'enough IPv4 in every region')];
    const texts = few.map(({ regionId, free, inUse }) => `region ${regionId} has ${free} of ${free + inUse} IPv4 left`);
    return [limited(what, `${texts.join(', ')}; add prefixes in regions.yaml and run "tradewind catalog apply"`)];
  });

/** Names the regions whose infrastructure no worker works on, if there are workers that are bound to regions. */
const workerFindings = (config: Config, catalog: Catalog): Promise<Finding[]> =>
  withDatabase(config, async (db) => {
    const workers = await db
      .selectFrom('workers')
      .select(sql<number[] | null>`to_json(regions)`.as('regions'))
      .where(LIVES)
      .execute();
    const bound = workers.flatMap(({ regions }) => regions ?? []);
    if (bound.length === 0) return [];
    const isServed = (id: number) => bound.includes(id) || workers.some(({ regions }) => regions === null);
    const without = [...catalog.regions.keys()].filter((id) => !isServed(id));
    const what = 'Workers';
    if (without.length === 0) return [ok(what, 'every region has one')];
    return [
      limited(
        what,
        `none works on the infrastructure of region ${without.join(', ')}; start one with TRADEWIND_WORKER_REGIONS=${without.join(',')}`,
      ),
    ];
  });

/** Says what is in maintenance: somebody may have forgotten to end it. */
const maintenanceFindings = (config: Config): Promise<Finding[]> =>
  withDatabase(config, async (db) =>
    (await db.selectFrom('maintenances').selectAll().orderBy('id').execute()).map(
      ({ id, region_id, backend, reason, created_at }) =>
        limited(
          'Maintenance',
          `${backend === null ? `region ${region_id}` : `backend ${backend}`} takes in nothing new since ${isoSeconds(created_at)}: ${reason}; "tradewind maintenance end ${id}" ends it`,
        ),
    ),
  );

async function withDatabase(config: Config, find: (db: Sql) => Promise<Finding[]>): Promise<Finding[]> {
  const connection = runningDatabase(config);
  if (connection === undefined) return [];
  const database = openDatabase(connection, 1);
  try {
    return await find(database.sql);
  } catch {
    // Before the first start, or an unreachable database, which is reported elsewhere.
    return [];
  } finally {
    await database.close();
  }
}

/** Says that the backend has things that nobody wants, or why it could not list its things. */
async function orphanFault(sql: Sql, named: NamedBackend): Promise<string | undefined> {
  const { orphans, problem } = await orphansIn(sql, named);
  if (problem !== null) return `it could not list its resources: ${problem}`;
  return orphans.length > 0 ? 'it has resources that nobody wants: "tradewind orphans list" shows them' : undefined;
}

/** Returns what the backend has that nobody wants, or why it could not list its things. */
export async function orphansIn(sql: Sql, named: NamedBackend): Promise<{ orphans: Orphan[]; problem: string | null }> {
  const signal = AbortSignal.timeout(LIST_MS);
  try {
    const { orphans } = await compare({ sql, log, signal }, named);
    return { orphans, problem: null };
  } catch (error) {
    const problem = signal.aborted ? `no answer within ${LIST_MS / 1_000} s` : (error as Error).message;
    return { orphans: [], problem };
  }
}
