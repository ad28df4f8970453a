import { sql } from 'kysely';
import { BACKEND_FAMILIES, FAMILIES, familyOf } from '../../../backends/contract/needs.ts';
import type { SpecCheck } from '../../../convergence/wants.ts';
import { announce, type ChangeFeed, createRowCache } from '../../../db/changes.ts';
import type { Database, Sql } from '../../../db/database.ts';
import { ConflictError, InvalidError, NotFoundError, UnavailableError } from '../../../lib/errors.ts';
import { isoSeconds } from '../../../lib/time.ts';
import type { Platform } from '../../../platform.ts';
import { type Principal, requirePlatform } from '../../../requests/principal.ts';
import type { Maintenance, NewMaintenance } from './schema.ts';

/*
 * Regions and backends in maintenance: what is there stays as it is, or goes. Nothing is made or changed, so that what was
 * begun comes to its end, and the infrastructure is quiet.
 */

interface Maintained {
  region_id: number | null;
  backend: string | null;
  reason: string;
}

const TOPIC = 'maintenance';
/** Nobody knows how long a maintenance takes, but it isn't seconds. */
const RETRY_AFTER_S = 300;
/** Processes hear of it much sooner. */
const KNOWN_WITHIN_S = 3;
const ALL = 0;

export const cacheMaintenances = ({ changes, database }: { changes: ChangeFeed; database: Database }) =>
  createRowCache(changes, TOPIC, () => maintained(database.sql));

/** Returns whether backends, or regions, are in maintenance. */
export async function inMaintenanceNow(db: Sql): Promise<(backend: string, regionId?: number) => boolean> {
  const all = await maintained(db);
  return (name, regionId) =>
    all.some(({ backend, region_id }) => backend === name || (region_id !== null && region_id === regionId));
}

/** Returns how long what is in maintenance has been so: a region, or a backend. */
export async function maintenanceSeconds(db: Sql): Promise<{ region: string; backend: string; seconds: number }[]> {
  const rows = await db
    .selectFrom('maintenances')
    .select([
      'region_id',
      'backend',
      sql<number>`extract(epoch from tradewind_now() - created_at)::double precision`.as('seconds'),
    ])
    .execute();
  return rows.map(({ region_id, backend, seconds }) => ({
    region: region_id === null ? '' : String(region_id),
    backend: backend ?? '',
    seconds,
  }));
}

const maintained = (db: Sql): Promise<Maintained[]> =>
  db.selectFrom('maintenances').select(['region_id', 'backend', 'reason']).orderBy('id').execute();

/** Returns what a region's backend can't do of a spec. It throws UnavailableError for what is in maintenance, unless something goes. */
export async function checkOf(on: Platform): Promise<SpecCheck> {
  const all = (await on.maintenances.get(ALL)) ?? [];
  return (regionId, kind, spec, removes) => {
    const backend = on.catalog.backendOf(regionId, familyOf(kind))?.name;
    const found = all.find((one) => one.region_id === regionId || (one.backend !== null && one.backend === backend));
    if (!found || removes) return on.backends.check(regionId, kind, spec);
    const name = on.catalog.regions.get(regionId)?.display_name ?? regionId;
    const what = found.backend === null ? `Region ${name} is` : `A part of the infrastructure of region ${name} is`;
    throw new UnavailableError(
      `${what} in maintenance and takes in nothing new or changed: ${found.reason}`,
      RETRY_AFTER_S,
    );
  };
}

/** Returns whether regions are in maintenance. */
export async function inMaintenance({
  maintenances,
}: Pick<Platform, 'maintenances'>): Promise<(regionId: number) => boolean> {
  const all = (await maintenances.get(ALL)) ?? [];
  return (regionId) => all.some((one) => one.region_id === regionId);
}

export const MAINTENANCE_DUTY = 'puts regions and backends into maintenance';

export async function listMaintenances(on: Platform, principal: Principal): Promise<{ results: Maintenance[] }> {
  requirePlatform(principal, MAINTENANCE_DUTY);
  const rows = await on.database.sql
    .selectFrom('maintenances')
    .selectAll()
    .select(
      sql<boolean>`begun_in < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
        and created_at < tradewind_now() - make_interval(secs => ${KNOWN_WITHIN_S})`.as('isKnown'),
    )
    .orderBy('id')
    .execute();
  return { results: await presented(on, rows) };
}

/** @throws ForbiddenError, InvalidError for what the catalogue doesn't have, ConflictError */
export async function beginMaintenance(
  on: Platform,
  principal: Principal,
  request: NewMaintenance,
): Promise<Maintenance> {
  requirePlatform(principal, MAINTENANCE_DUTY);
  const [region_id, backend] = [request.region_id ?? null, request.backend ?? null];
  if ((region_id === null) === (backend === null))
    throw new InvalidError({ region_id: ['Name a region or a backend.'] });
  if (region_id !== null && !on.catalog.regions.has(region_id))
    throw new InvalidError({ region_id: [`Region ${region_id} not found.`] });
  if (backend !== null && !on.catalog.backends.has(backend))
    throw new InvalidError({ backend: [`The catalogue has no backend ${backend}.`] });
  const row = await on.database.accept(async (tx) => {
    const made = await tx.sql
      .insertInto('maintenances')
      .values({ region_id, backend, reason: request.reason, created_by: principal.userId, created_at: tx.now })
      .onConflict((conflict) => conflict.constraint('maintenances_once').doNothing())
      .returningAll()
      .executeTakeFirst();
    if (!made) throw new ConflictError(`${backend ?? `Region ${region_id}`} is in maintenance already`);
    tx.made(made.id);
    await announce(tx.client, TOPIC, ALL);
    return made;
  });
  on.maintenances.forget(ALL);
  const [shown] = await presented(on, [{ ...row, isKnown: false }]);
  if (!shown) throw new Error('What was inserted is not shown');
  return shown;
}

/** @throws ForbiddenError, NotFoundError */
export async function endMaintenance(on: Platform, principal: Principal, id: number): Promise<void> {
  requirePlatform(principal, MAINTENANCE_DUTY);
  await on.database.accept(async (tx) => {
    const { numDeletedRows } = await tx.sql.deleteFrom('maintenances').where('id', '=', id).executeTakeFirstOrThrow();
    if (numDeletedRows === 0n) throw new NotFoundError('Maintenance', id);
    await announce(tx.client, TOPIC, ALL);
  });
  on.maintenances.forget(ALL);
}

interface Row extends Maintained {
  id: number;
  created_by: number;
  created_at: Date;
  begun_in: number;
  /** Whether all processes know of it, and whatever began before it has been committed. */
  isKnown: boolean;
}

async function presented(on: Platform, rows: readonly Row[]): Promise<Maintenance[]> {
  const parts = rows.flatMap((row) => partsOf(on.catalog, row));
  const counted = new Map((await countUnfinished(on.database.sql, parts)).map((one) => [one.id, one]));
  return rows.map(({ created_at, begun_in: _, isKnown, ...row }) => {
    const { unfinished = 0, failing = 0 } = counted.get(row.id) ?? {};
    const drained = isKnown && unfinished === 0;
    return { ...row, unfinished, failing, drained, created_at: isoSeconds(created_at) };
  });
}

/** The kinds in a region that are in the maintenance. */
interface Part {
  id: number;
  region_id: number;
  kinds: string[];
}

function partsOf(catalog: Platform['catalog'], { id, region_id, backend }: Row): Part[] {
  const regions = region_id === null ? [...catalog.regions.keys()] : [region_id];
  return regions.map((regionId) => ({
    id,
    region_id: regionId,
    kinds: BACKEND_FAMILIES.filter(
      (family) => backend === null || catalog.backendOf(regionId, family)?.name === backend,
    ).flatMap((family) => [...FAMILIES[family]]),
  }));
}

async function countUnfinished(db: Sql, parts: readonly Part[]) {
  const { rows } = await sql<Pick<Maintenance, 'failing' | 'id' | 'unfinished'>>`
    select part.id, count(*)::integer as unfinished, (count(*) filter (where failures > 0))::integer as failing
    from wants join jsonb_to_recordset(${JSON.stringify(parts)}::jsonb)
      as part (id bigint, region_id bigint, kinds text[]) on part.region_id = wants.region_id and kind = any(kinds)
    where worker_id is not null or (worker_id is null and due_at is not null)
    group by part.id`.execute(db);
  return rows;
}
