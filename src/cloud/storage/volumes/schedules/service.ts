import type { Transaction } from '../../../../db/database.ts';
import { ConflictError, type FieldProblem, InvalidError, QuotaExceededError } from '../../../../lib/errors.ts';
import { found, foundById, newId } from '../../../../lib/ids.ts';
import { type VolumeType, whyNoSnapshots } from '../../../../lib/volume-types.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { priced } from '../../../ground/catalog/service.ts';
import { asTotal, sumOf, volumePrice } from '../../../ground/prices/formula.ts';
import { lockVolumes } from '../store.ts';
import { plansOf } from './in-transaction.ts';
import * as schema from './schema.ts';
import * as store from './store.ts';
import { type Span, spanProblems, type Timing, timingProblems } from './timing.ts';

/* Policies take snapshots of volumes by schedules. `work.ts` does what they say. */

const MOST_POLICIES = 100;
const CRON_FIELDS = ['minute', 'hour', 'day', 'day_of_week', 'week', 'month', 'timezone'] as const;
const UNITS = ['weeks', 'days', 'hours', 'minutes'] as const;

/** @throws InvalidError, ConflictError for a volume without snapshots, QuotaExceededError for too many policies */
export async function createPolicy(on: Platform, scope: Scope, request: schema.CreatePolicy): Promise<store.PolicyRow> {
  const { name, status = 'active', schedules = [] } = request;
  requireSound(schedules, on.clock.now());
  const id = await on.database.accept(async (tx) => {
    const count = await store.countPolicies(tx, scope);
    if (count >= MOST_POLICIES) throw exceeded(count);
    const policy = await store.insertPolicy(tx, scope, { name, status, user_id: scope.principal.userId });
    tx.about({ type: 'lifecycle_policy', id: policy.id, name });
    const rows = schedules.map((one) => newSchedule(scope, policy.id, one));
    await store.insertSchedules(tx, rows);
    const volumes = unique(request.volume_ids ?? []);
    if (volumes.length > 0) await addTo(tx, scope, policy, volumes);
    return policy.id;
  });
  return getPolicy(on, scope, id);
}

export const listPolicies = (on: Platform, scope: Scope): Promise<store.PolicyRow[]> =>
  store.listPolicies(on.database.sql, scope);

/** @throws NotFoundError */
export const getPolicy = async (on: Platform, scope: Scope, id: number): Promise<store.PolicyRow> =>
  found('Snapshot policy', id, await store.findPolicy(on.database.sql, scope, id));

/** Changes name and status. Snapshots that were due while the policy was paused are left out. @throws NotFoundError */
export const updatePolicy = (on: Platform, scope: Scope, id: number, { name, status }: schema.UpdatePolicy) =>
  changed(on, scope, id, async (tx, policy) => {
    await store.changePolicies(tx, [id], { ...(name !== undefined && { name }), ...(status && { status }) });
    if (status === undefined || status === policy.status) return;
    await store.planAnew(tx, plansOf(await store.schedulesOf(tx, [id]), status, tx.now));
  });

/** Deletes the policy with its schedules. The snapshots stay. @throws NotFoundError */
export async function deletePolicy(on: Platform, scope: Scope, id: number): Promise<void> {
  await on.database.accept(async (tx) => {
    await lockPolicy(tx, scope, id);
    await store.deletePolicy(tx, id);
  });
}

/** @throws NotFoundError, InvalidError, ConflictError if they would be too many */
export async function addSchedules(
  on: Platform,
  scope: Scope,
  id: number,
  schedules: readonly schema.CreateSchedule[],
): Promise<store.PolicyRow> {
  requireSound(schedules, on.clock.now());
  return changed(on, scope, id, async (tx, policy) => {
    const before = await store.schedulesOf(tx, [id]);
    if (before.length + schedules.length > schema.MOST_SCHEDULES) {
      throw new ConflictError(
        `Policy ${id} has ${before.length} schedules and may have ${schema.MOST_SCHEDULES}; remove some first`,
      );
    }
    const rows = schedules.map((one) => newSchedule(scope, id, one));
    await store.insertSchedules(tx, rows);
    await store.insertTurns(tx, plansOf(rows, policy.status, tx.now), await store.volumesOf(tx, id));
    await store.changePolicies(tx, [id]);
  });
}

/** Removes schedules. Their snapshots stay. @throws NotFoundError, InvalidError for schedules of another policy */
export const removeSchedules = (on: Platform, scope: Scope, id: number, scheduleIds: readonly string[]) =>
  changed(on, scope, id, async (tx) => {
    const ids = unique(scheduleIds);
    const own = new Set((await store.schedulesOf(tx, [id])).map((one) => one.id));
    const foreign = ids.filter((one) => !own.has(one));
    if (foreign.length > 0) {
      throw new InvalidError({ schedule_ids: [`Policy ${id} has no schedule ${foreign.join(', ')}.`] });
    }
    await tx.sql.deleteFrom('snapshot_schedules').where('id', 'in', ids).execute();
    await store.changePolicies(tx, [id]);
  });

/** Volumes that it has already stay as they are. @throws NotFoundError, InvalidError, ConflictError */
export const addVolumes = (on: Platform, scope: Scope, id: number, volumeIds: readonly string[]) =>
  changed(on, scope, id, async (tx, policy) => {
    await addTo(tx, scope, policy, unique(volumeIds));
    await store.changePolicies(tx, [id]);
  });

/** Volumes that it doesn't have are out already. The snapshots stay. @throws NotFoundError */
export const removeVolumes = (on: Platform, scope: Scope, id: number, volumeIds: readonly string[]) =>
  changed(on, scope, id, async (tx) => {
    await store.removeVolumes(tx, id, unique(volumeIds));
    await store.changePolicies(tx, [id]);
  });

/** @throws NotFoundError */
export const getSchedule = (on: Platform, scope: Scope, id: string): Promise<store.ScheduleRow> =>
  foundById('Snapshot schedule', id, () => store.findSchedule(on.database.sql, scope, id));

/** Another timing plans the next snapshot anew. @throws NotFoundError, InvalidError */
export async function updateSchedule(on: Platform, scope: Scope, id: string, request: schema.UpdateSchedule) {
  await on.database.accept(async (tx) => {
    const before = await foundById('Snapshot schedule', id, () => store.findSchedule(tx.sql, scope, id));
    const policy = await lockPolicy(tx, scope, before.policy_id);
    // It may have changed before the lock.
    const schedule = await foundById('Snapshot schedule', id, () => store.findSchedule(tx.sql, scope, id));
    tx.about({ type: 'snapshot_schedule', id, name: null });
    const timing = changedTiming(schedule.timing, request);
    const retention = request.retention_time === undefined ? schedule.retention : request.retention_time;
    const problems = [
      ...(timing ? timingProblems(timing, '', tx.now) : []),
      ...retentionProblems(retention, ''),
      ...templateProblems(request.resource_name_template, ''),
    ];
    if (problems.length > 0) throw new InvalidError(problems);
    await store.changeSchedule(tx, schedule.id, {
      timing: timing ?? schedule.timing,
      retention,
      max_quantity: request.max_quantity ?? schedule.max_quantity,
      resource_name_template: request.resource_name_template ?? schedule.resource_name_template,
    });
    if (timing) await store.planAnew(tx, plansOf([{ id: schedule.id, timing }], policy.status, tx.now));
    await store.pruneNow(tx, schedule.id);
    await store.changePolicies(tx, [policy.id]);
  });
  return getSchedule(on, scope, id);
}

/** Returns what a policy would use if each of its schedules kept as many snapshots as it may. @throws InvalidError */
export async function estimateUsage(
  on: Platform,
  scope: Scope,
  request: Pick<schema.CreatePolicy, 'schedules' | 'volume_ids'>,
): Promise<schema.PolicyUsage> {
  const { each, volumes } = await estimated(on, scope, request);
  const { terms, hourPrice } = await on.rates.of(scope.clientId);
  const prices = [...sizesByType(volumes)].map(([type, gib]) =>
    volumePrice(terms, each === 0 ? '0' : hourPrice(scope.regionId, priced.volume(type)), each * gib),
  );
  return {
    max_cost: sumOf(terms, prices),
    max_volume_snapshot_count_usage: each * volumes.length,
    max_volume_snapshot_sequence_length: each,
    max_volume_snapshot_size_usage: each * volumes.reduce((sum, { size_gib }) => sum + size_gib, 0),
  };
}

/** Returns the price of the same, by the type of the volumes. @throws InvalidError */
export async function priceByType(
  on: Platform,
  scope: Scope,
  request: Pick<schema.CreatePolicy, 'schedules' | 'volume_ids'>,
): Promise<schema.PolicyPriceByType> {
  const { each, volumes } = await estimated(on, scope, request);
  const { terms, hourPrice } = await on.rates.of(scope.clientId);
  const prices = [...sizesByType(volumes)].map(([type, gib]) => ({
    type,
    price: volumePrice(terms, each === 0 ? '0' : hourPrice(scope.regionId, priced.volume(type)), each * gib),
  }));
  const total = sumOf(
    terms,
    prices.map(({ price }) => price),
  );
  const period = (field: 'price_per_hour' | 'price_per_month') => ({
    volumes: prices.map(({ type, price }) => ({
      type,
      discount: price.discount_percent,
      price: price[field],
    })),
  });
  return {
    ...asTotal(total),
    discount: total.discount_percent,
    per_hour: period('price_per_hour'),
    per_month: period('price_per_month'),
  };
}

/** Returns the snapshots of each volume, and the volumes. */
async function estimated(
  on: Platform,
  scope: Scope,
  { schedules = [], volume_ids = [] }: Pick<schema.CreatePolicy, 'schedules' | 'volume_ids'>,
): Promise<{ each: number; volumes: SizedVolume[] }> {
  requireSound(schedules, on.clock.now());
  const ids = unique(volume_ids);
  const volumes = await store.plainVolumes(on.database.sql, scope, ids);
  requireVolumes(ids, volumes);
  const each = schedules.reduce((sum, { max_quantity = schema.DEFAULTS.max_quantity }) => sum + max_quantity, 0);
  return { each, volumes };
}

interface SizedVolume {
  id: string;
  size_gib: number;
  volume_type: VolumeType;
}

function sizesByType(volumes: readonly SizedVolume[]): Map<VolumeType, number> {
  const sizes = new Map<VolumeType, number>();
  for (const { volume_type: type, size_gib: gib } of volumes) sizes.set(type, (sizes.get(type) ?? 0) + gib);
  return sizes;
}

async function changed(
  on: Platform,
  scope: Scope,
  id: number,
  change: (tx: Transaction, policy: store.PlainPolicy) => Promise<void>,
): Promise<store.PolicyRow> {
  await on.database.accept(async (tx) => change(tx, await lockPolicy(tx, scope, id)));
  return getPolicy(on, scope, id);
}

async function lockPolicy(tx: Transaction, scope: Scope, id: number): Promise<store.PlainPolicy> {
  const [policy] = await store.lockPolicies(tx, scope, [id]);
  const { name } = found('Snapshot policy', id, policy);
  tx.about({ type: 'lifecycle_policy', id, name });
  return found('Snapshot policy', id, policy);
}

/** The volumes are locked, so that none of them is deleted meanwhile. */
async function addTo(tx: Transaction, scope: Scope, { id, status }: store.PlainPolicy, volumeIds: readonly string[]) {
  requireVolumes(volumeIds, await lockVolumes(tx, scope, [...volumeIds]));
  const all = new Set([...(await store.volumesOf(tx, id)), ...volumeIds]);
  if (all.size > schema.MOST_VOLUMES) {
    throw new ConflictError(`Policy ${id} would have ${all.size} volumes and may have ${schema.MOST_VOLUMES}`);
  }
  await store.insertVolumes(tx, [id], volumeIds);
  await store.insertTurns(tx, plansOf(await store.schedulesOf(tx, [id]), status, tx.now), volumeIds);
}

/** @throws InvalidError for volumes that are not there, or of a type without snapshots */
function requireVolumes(ids: readonly string[], volumes: readonly SizedVolume[]): void {
  const known = new Map(volumes.map((volume) => [volume.id, volume]));
  const problems = ids.flatMap((id) => {
    const volume = known.get(id);
    return (volume ? whyNoSnapshots(volume) : `No volume ${id} in this project and region.`) ?? [];
  });
  if (problems.length > 0) throw new InvalidError({ volume_ids: problems });
}

function requireSound(schedules: readonly schema.CreateSchedule[], now: Date): void {
  const problems = schedules.flatMap((one, at) => [
    ...timingProblems(timingOf(one), `schedules.${at}.`, now),
    ...retentionProblems(one.retention_time ?? null, `schedules.${at}.`),
    ...templateProblems(one.resource_name_template, `schedules.${at}.`),
  ]);
  if (problems.length > 0) throw new InvalidError(problems);
}

function templateProblems(template: string | undefined, at: string): FieldProblem[] {
  const named = [...(template ?? '').matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name ?? '');
  const unknown = named.filter((name) => !schema.PLACEHOLDERS.some((known) => known === name));
  const known = schema.PLACEHOLDERS.join(', ');
  return unknown.map((name) => ({
    field: `${at}resource_name_template`,
    message: `There is no {${name}}; choose from ${known}.`,
  }));
}

const retentionProblems = (retention: Span | null, at: string): FieldProblem[] =>
  retention ? spanProblems(retention, `${at}retention_time`, 'A retention time') : [];

/** Returns what a request says of the times, without the rest of the schedule. */
function timingOf(request: schema.CreateSchedule): Timing {
  const { type } = request;
  const given = request as Record<string, unknown>;
  const fields = type === 'cron' ? CRON_FIELDS : UNITS;
  const said = fields.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]);
  return { type, ...Object.fromEntries(said) } as Timing;
}

/** Returns the timing as a request changes it; undefined if it says nothing of it. @throws InvalidError */
function changedTiming(before: Timing, request: schema.UpdateSchedule): Timing | undefined {
  const type = request.type ?? before.type;
  const [own, others] = type === 'cron' ? [CRON_FIELDS, UNITS] : [UNITS, CRON_FIELDS];
  const foreign = others.filter((name) => request[name] !== undefined);
  if (foreign.length > 0) {
    const message = `Is not a field of schedules of type ${type}; leave it out, or change the type.`;
    throw new InvalidError(foreign.map((field) => ({ field, message })));
  }
  const said = own.filter((name) => request[name] !== undefined);
  if (said.length === 0 && type === before.type) return undefined;
  const given = Object.fromEntries(said.map((name) => [name, request[name]]));
  return { ...(type === before.type && before), type, ...given };
}

const newSchedule = (scope: Scope, policyId: number, request: schema.CreateSchedule): store.NewSchedule => ({
  id: newId(),
  policy_id: policyId,
  user_id: scope.principal.userId,
  user_client_id: scope.principal.clientId,
  timing: timingOf(request),
  max_quantity: request.max_quantity ?? schema.DEFAULTS.max_quantity,
  retention: request.retention_time ?? null,
  resource_name_template: request.resource_name_template ?? schema.DEFAULTS.resource_name_template,
});

const unique = (ids: readonly string[]): string[] => [...new Set(ids.map((id) => id.toLowerCase()))];

const exceeded = (count: number) =>
  new QuotaExceededError({
    attribute: 'snapshot_schedule_count',
    current_usage: count,
    requested_usage: 1,
    limit: MOST_POLICIES,
  });
