import { sql } from 'kysely';
import type { Backend, Json, SendingMachine } from '../../../backends/contract/backend.ts';
import type { Sql, Transaction } from '../../../db/database.ts';
import { grouped } from '../../../lib/lists.ts';
import { loop, untilAborted } from '../../../lib/loop.ts';
import { secondOf } from '../../../lib/time.ts';
import type { Platform } from '../../../platform.ts';
import { priced } from '../../ground/catalog/service.ts';
import { DAY_MS, startOfDay, TRAFFIC_AWAITED_MS } from './period.ts';

/*
 * Meters the traffic that machines send out of a region, where the catalogue prices it and the infrastructure counts it: each
 * hour once it is over, some machines at a time. A worker takes a region for a while, asks the infrastructure without holding
 * anything locked, and notes what it said and how far it came in one transaction. So no byte counts twice or is lost if it dies.
 */

const LOOK_MS = 1_000;
const HOUR_MS = 3_600_000;
/** By then after the end of an hour, the infrastructure has counted all of it. */
const SETTLES_MS = 5 * 60_000;
const TAKEN_MS = 3 * 60_000;
const PATIENCE_MS = 60_000;
/** Nothing of a day is noted later than this before its usage is final, lest a slow commit come after it. */
const MARGIN_MS = 5 * 60_000;
/** Machines asked about at once. */
const BATCH = 200;

/** Begins to meter in these regions, or in all. `mayWork` says whether the clock can be trusted. */
export function startMeteringTraffic(
  on: Platform,
  { regions, mayWork }: { regions: readonly number[] | undefined; mayWork: () => boolean },
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const rounds = new Map<number, Promise<void>>();
  const looking = loop('looking for traffic to meter', LOOK_MS, on.log, async () => {
    if (!mayWork()) return;
    const due = await regionsDue(on, regions ?? [...on.catalog.regions.keys()]);
    // A region whose infrastructure is slow or doesn't answer holds up no other.
    for (const id of due.filter((one) => !rounds.has(one))) rounds.set(id, round(id));
  });
  async function round(region: number): Promise<void> {
    try {
      await meterRegion(on, region, stopping.signal, mayWork);
    } catch (err) {
      // Nobody tries again until the time for which the region was taken is over.
      if (!stopping.signal.aborted)
        on.log.warn({ region, err }, 'metering the traffic of a region failed, trying again');
    } finally {
      rounds.delete(region);
    }
  }
  return {
    async stop() {
      stopping.abort(new Error('The process stops'));
      await looking.stop();
      await Promise.all(rounds.values());
    },
  };
}

const KINDS = ['machine', 'cluster'] as const;
const SKUS = ['virtual', 'baremetal'] as const;
type Sku = (typeof SKUS)[number];

const skusOf = ({ catalog }: Pick<Platform, 'catalog'>, regionId: number): Sku[] =>
  SKUS.filter((sku) => catalog.hasPrice(regionId, priced.egressTraffic(sku)));

const isPriced = (on: Pick<Platform, 'catalog'>, regionId: number): boolean =>
  on.catalog.regions.has(regionId) && skusOf(on, regionId).length > 0;

/** Whether traffic has a price there, and what makes things of one of the kinds counts it. */
export const isTrafficMetered = (
  on: Pick<Platform, 'catalog' | 'backends'>,
  regionId: number,
  kinds: readonly (typeof KINDS)[number][] = KINDS,
): boolean => isPriced(on, regionId) && kinds.some((kind) => on.backends.of(regionId, kind).sentBy);

/** Returns how long ago each region's traffic was last metered completely. */
export async function unmeteredSeconds(db: Sql): Promise<{ region: string; seconds: number }[]> {
  const seconds = sql<number>`greatest(0, extract(epoch from tradewind_now() - metered_until))::double precision`.as(
    'seconds',
  );
  const rows = await db.selectFrom('traffic_meters').select(['region_id', seconds]).execute();
  return rows.map(({ region_id, ...row }) => ({ region: String(region_id), ...row }));
}

/**
 * Begins with the hour that has begun where traffic is metered from now on, and forgets regions where it no longer has a price.
 * Returns the regions with an hour to meter.
 */
async function regionsDue(on: Platform, own: readonly number[]): Promise<number[]> {
  const db = on.database.sql;
  const now = on.clock.now();
  const meters = await db.selectFrom('traffic_meters').selectAll().execute();
  const gone = meters.map((meter) => meter.region_id).filter((id) => !isPriced(on, id));
  if (gone.length > 0) await forget(on, gone);
  const counting = own.filter((id) => isTrafficMetered(on, id));
  const hour = new Date(startOfHour(now.getTime()));
  const added = counting.filter((id) => !meters.some((meter) => meter.region_id === id));
  if (added.length > 0) {
    await db
      .insertInto('traffic_meters')
      .values(added.map((region_id) => ({ region_id, metered_until: hour })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  const ahead = new Date(hour.getTime() + HOUR_MS);
  if (meters.some((meter) => meter.metered_until > ahead))
    await on.database.transaction((tx) => setBack(on, tx, ahead));
  const latest = startOfHour(now.getTime() - SETTLES_MS);
  return meters.flatMap(({ region_id: id, taken_until: taken, hour_ends: begun, metered_until: until }) =>
    counting.includes(id) && (!taken || taken <= now) && (begun || until.getTime() < latest) ? [id] : [],
  );
}

/** A process that can't read the catalogue in force has another one, and forgets nothing. */
async function forget(on: Platform, regions: readonly number[]): Promise<void> {
  const forgotten = await on.database.sql
    .deleteFrom('traffic_meters')
    .where('region_id', 'in', regions)
    .where(({ exists, selectFrom }) => exists(selectFrom('catalog').where('hash', '=', on.catalog.hash)))
    .returning(['region_id as region', 'metered_until as from'])
    .execute();
  for (const one of forgotten)
    on.log.warn(one, 'traffic has no price here any more; what was not metered is not billed');
}

/** A clock that was ahead has metered hours that are still to come: the day is metered anew. */
async function setBack(on: Platform, tx: Transaction, ahead: Date): Promise<void> {
  const day = startOfDay(tx.now);
  const wrong = await tx.sql
    .updateTable('traffic_meters')
    .set({ metered_until: day, hour_ends: null, after_id: null, taken_until: null })
    .where('metered_until', '>', ahead)
    .returning('region_id')
    .execute();
  for (const { region_id: region } of wrong) {
    on.log.warn({ region, from: day }, 'traffic was metered by a clock that was ahead, and is metered again');
  }
  if (wrong.length === 0) return;
  await tx.sql
    .deleteFrom('usage_periods')
    .where('type', '=', 'egress_traffic')
    .where('started_at', '>=', day)
    .where(
      'region_id',
      'in',
      wrong.map(({ region_id }) => region_id),
    )
    .execute();
}

const startOfHour = (time: number): number => Math.floor(time / HOUR_MS) * HOUR_MS;

/** What a worker has taken: machines after the last one, in a time on one day. */
interface Turn {
  regionId: number;
  from: Date;
  to: Date;
  after: string | null;
}

async function meterRegion(on: Platform, regionId: number, stopping: AbortSignal, mayWork: () => boolean) {
  for (;;) {
    let turn = await on.database.transaction((tx) => take(on, tx, regionId));
    if (!turn) return;
    while (turn) {
      if (stopping.aborted || !mayWork()) return;
      turn = await meterSome(on, turn, stopping);
    }
  }
}

/** Takes the next hour that is over, or what a worker that died has left of one. */
async function take(on: Platform, tx: Transaction, regionId: number): Promise<Turn | undefined> {
  const now = tx.now.getTime();
  const meter = await tx.sql
    .selectFrom('traffic_meters')
    .select(['metered_until', 'hour_ends', 'after_id'])
    .where('region_id', '=', regionId)
    .where(({ or, eb }) => or([eb('taken_until', 'is', null), eb('taken_until', '<=', tx.now)]))
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  if (!meter) return undefined;
  // What was told and billed changes no more. What is taken within the last hour would not be done in time.
  const first = startOfDay(now - TRAFFIC_AWAITED_MS + HOUR_MS).getTime();
  const isLost = meter.metered_until.getTime() < first;
  if (isLost) {
    const lost = { region: regionId, from: meter.metered_until, to: new Date(first) };
    on.log.error(lost, 'traffic was not metered in time and is not billed');
  }
  const from = isLost ? new Date(first) : meter.metered_until;
  const begun = isLost ? undefined : meter.hour_ends?.getTime();
  const to = new Date(begun ?? Math.min(startOfHour(now - SETTLES_MS), startOfDay(from).getTime() + DAY_MS));
  if (to <= from) return undefined;
  const after = isLost ? null : meter.after_id;
  const state = { metered_until: from, hour_ends: to, after_id: after, taken_until: new Date(now + TAKEN_MS) };
  await tx.sql.updateTable('traffic_meters').set(state).where('region_id', '=', regionId).execute();
  return { regionId, from, to, after };
}

/** Meters some machines. Returns the turn to go on with; undefined at the end of the time, or if another worker has it. */
async function meterSome(on: Platform, turn: Turn, stopping: AbortSignal): Promise<Turn | undefined> {
  const machines = await machinesAfter(on.database.sql, turn);
  const skus = new Set<string>(skusOf(on, turn.regionId));
  const senders = machines.filter(({ ports, sku }) => ports.length > 0 && skus.has(sku));
  const answers = await Promise.all(
    [...grouped(senders, ({ ref }) => ref.kind)].map(([kind, those]) =>
      askFor(on, on.backends.of(turn.regionId, kind), those, turn, stopping),
    ),
  );
  const sent = new Map(answers.flatMap((answer) => [...answer]));
  const used = senders.flatMap(({ ports, ...machine }) =>
    ports.flatMap(({ id }) => {
      const count = sent.get(id) ?? 0;
      const bytes = Math.floor(count);
      if (bytes < 0 || !Number.isSafeInteger(bytes)) {
        const wrong = { region: turn.regionId, port: id, from: turn.from, to: turn.to, count };
        on.log.error(wrong, 'the infrastructure says what is no number of bytes: it is not billed');
        return [];
      }
      return bytes > 0 ? [{ port_id: id, bytes, ...machine }] : [];
    }),
  );
  const next = machines.length < BATCH ? undefined : { ...turn, after: machines.at(-1)?.machineId ?? null };
  const isOurs = await on.database.transaction((tx) => note(tx, turn, next, used));
  return isOurs ? next : undefined;
}

async function askFor(
  on: Platform,
  { sentBy }: Backend,
  machines: readonly SendingMachine[],
  { from, to }: Turn,
  stopping: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  if (!sentBy) return new Map();
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(PATIENCE_MS)]);
  return untilAborted(signal, sentBy(machines, { from, to }, { log: on.log, signal }));
}

interface Sender extends SendingMachine {
  name: string;
  tags: Record<string, string>;
  project_id: number;
  client_id: number;
  sku: string;
}

/** Ports that lead outside have a public address or a floating IP. */
async function machinesAfter(db: Sql, { regionId, to, after }: Turn): Promise<Sender[]> {
  type Row = Omit<Sender, 'ref'> & { kind: (typeof KINDS)[number]; owner_id: string; handle: Json };
  const { rows } = await sql<Row>`
    select instances.id as "machineId", instances.name, instances.tags, instances.created_at as "createdAt",
      instances.project_id, projects.client_id, owner.kind, owner.id as owner_id, wants.handle,
      case when starts_with(instances.flavor_id, 'bm') then 'baremetal' else 'virtual' end as sku,
      coalesce((
        select jsonb_agg(jsonb_build_object('id', ports.id, 'macAddress', mac_address) order by position)
        from ports join networks on networks.id = network_id
        where instance_id = instances.id
          and (external or exists (select from floating_ips where port_id = ports.id))
      ), '[]') as ports
    from instances
    join projects on projects.id = instances.project_id
    left join kubernetes_pools on kubernetes_pools.id = pool_id
    cross join lateral (
      select case when cluster_id is null then 'machine' else 'cluster' end as kind,
        coalesce(cluster_id, instances.id) as id
    ) as owner
    left join wants on wants.kind = owner.kind and wants.id = owner.id
    where instances.region_id = ${regionId} and instances.created_at < ${to} and (${after}::uuid is null or instances.id > ${after})
    order by instances.id limit ${BATCH}`.execute(db);
  return rows.map(({ kind, owner_id: id, handle, ...row }) => ({
    ...row,
    ref: { kind, id, regionId, projectId: row.project_id, handle },
  }));
}

type SentByPort = Omit<Sender, 'ports'> & { port_id: string; bytes: number };

/** Adds what was sent to the days of the ports. Returns false if another worker has gone on meanwhile, or it is too late. */
async function note(
  tx: Transaction,
  turn: Turn,
  next: Turn | undefined,
  sent: readonly SentByPort[],
): Promise<boolean> {
  const { regionId, from, to, after } = turn;
  if (tx.now.getTime() >= startOfDay(from).getTime() + DAY_MS + TRAFFIC_AWAITED_MS - MARGIN_MS) return false;
  const state = next
    ? { after_id: next.after, taken_until: new Date(tx.now.getTime() + TAKEN_MS) }
    : { after_id: null, taken_until: null, metered_until: to, hour_ends: null };
  const { numUpdatedRows } = await tx.sql
    .updateTable('traffic_meters')
    .set(state)
    .where('region_id', '=', regionId)
    .where('metered_until', '=', from)
    .where('hour_ends', '=', to)
    .where('after_id', 'is not distinct from', after)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  if (sent.length === 0) return true;
  const rows = sent.map(({ machineId, createdAt, ref: _, ...one }) => ({
    ...one,
    machine_id: machineId,
    began: createdAt > from ? secondOf(createdAt) : from,
  }));
  await sql`
    insert into usage_periods as used (client_id, project_id, region_id, type, resource_id, sku, amount, name, tags, details,
      started_at, ended_at)
    select client_id, project_id, ${regionId}, 'egress_traffic', port_id, sku, bytes, name, tags,
      jsonb_build_object('port_id', port_id, 'attached_to_vm', machine_id), began, ${to}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as sent (port_id uuid, machine_id uuid, client_id bigint,
      project_id bigint, sku text, bytes bigint, name text, tags jsonb, began timestamptz)
    order by port_id
    on conflict (resource_id, sku, ((started_at at time zone 'UTC')::date)) where type = 'egress_traffic'
    do update set amount = used.amount + excluded.amount, started_at = least(used.started_at, excluded.started_at),
      ended_at = greatest(used.ended_at, excluded.ended_at), name = excluded.name, tags = excluded.tags,
      details = excluded.details`.execute(tx.sql);
  return true;
}
