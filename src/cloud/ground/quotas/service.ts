import { InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { isoMicros } from '../../../lib/timestamps.ts';
import type { Platform } from '../../../platform.ts';
import type { Principal } from '../../../requests/principal.ts';
import { GLOBAL_NAMES, GLOBAL_QUOTAS, limitField, NO_REGION, REGIONAL_QUOTAS, usageField } from './names.ts';
import {
  type AllQuotas,
  DEFAULT_THRESHOLD,
  type QuotaFields,
  type QuotaThreshold,
  type Told,
} from './quota-schema.ts';
import { lockReadable, requireChangeable, requireReadable } from './reach.ts';
import * as store from './store.ts';
import { lastWarning, type Warning } from './warnings/store.ts';

export { usageOf as quotaUsage } from './store.ts';

type Changes = Readonly<Record<string, number | null>>;

async function numbersOf(on: Platform, clientId: number) {
  const usage = await store.usageOf(on.database.sql, clientId);
  const limits = await store.limitsOf(on.database.sql, clientId);
  const lists = await store.listedLimits(on.database.sql, clientId, on.clock.now());
  const listed = (regionId: number, quota: string) => {
    const list = lists.find((one) => `${regionId} ${quota}` in one || quota in one);
    return list?.[`${regionId} ${quota}`] ?? list?.[quota];
  };
  const byKey = (list: store.QuotaNumber[]) =>
    new Map(list.map((one) => [`${one.region_id} ${one.attribute}`, one.number]));
  const [used, own] = [byKey(usage), byKey(limits)];
  const fields = (regionId: number, quotas: readonly string[], standard: Record<string, number>) =>
    Object.fromEntries(
      quotas.flatMap((quota) => [
        [
          limitField(quota),
          own.get(`${regionId} ${quota}`) ?? listed(regionId, quota) ?? standard[quota] ?? 0,
        ],
        [usageField(quota), used.get(`${regionId} ${quota}`) ?? 0],
      ]),
    );
  return {
    regionIds: new Set([...usage, ...limits].map(({ region_id }) => region_id)),
    global: () => fields(NO_REGION, GLOBAL_NAMES, GLOBAL_QUOTAS),
    regional: (regionId: number) => ({
      ...fields(regionId, REGIONAL_QUOTAS, regionOf(on, regionId).quotas),
      region_id: regionId,
    }),
  };
}

function regionOf(on: Platform, regionId: number) {
  const region = on.catalog.regions.get(regionId);
  if (!region) throw new NotFoundError('Region', regionId);
  return region;
}

/** What a mail told, in the published form: limit and usage are under the name of either. */
function toldOf(on: Platform, { attribute, region_id, used: usage, most: limit }: Warning): Told {
  const uses = { [limitField(attribute)]: { limit, usage }, [usageField(attribute)]: { limit, usage } };
  if (region_id === NO_REGION) return { global_quotas: uses, regional_quotas: [] };
  const region_name = on.catalog.regions.get(region_id)?.display_name ?? '';
  return { global_quotas: {}, regional_quotas: [{ region_id, region_name, ...uses }] };
}

async function change(
  on: Platform,
  principal: Principal,
  clientId: number,
  regionId: number,
  quotas: readonly string[],
  changes: Changes,
): Promise<void> {
  await requireChangeable(on.database, principal, clientId);
  const limits = quotas.flatMap((attribute) => {
    const number = changes[limitField(attribute)];
    return number === undefined ? [] : [{ region_id: regionId, attribute, number }];
  });
  if (limits.length === 0) throw new InvalidError({ body: ['Name at least one limit.'] });
  await on.database.accept(async (tx) => {
    await lockReadable(tx, principal, clientId);
    await store.changeLimits(tx, clientId, limits);
  });
}

/** Those of the caller's account. */
export async function listQuotas(on: Platform, principal: Principal): Promise<AllQuotas> {
  const { global, regional, regionIds } = await numbersOf(on, principal.clientId);
  const regions = [...on.catalog.regions.keys()].filter((id) => regionIds.has(id));
  return { global_quotas: global(), regional_quotas: regions.map(regional) };
}

/** @throws NotFoundError for a client that isn't the caller's, and for an unknown region */
export async function getRegionalQuotas(
  on: Platform,
  principal: Principal,
  clientId: number,
  regionId: number,
): Promise<QuotaFields> {
  await requireReadable(on.database, principal, clientId);
  regionOf(on, regionId);
  return (await numbersOf(on, clientId)).regional(regionId);
}

/** @throws NotFoundError */
export async function getGlobalQuotas(
  on: Platform,
  principal: Principal,
  clientId: number,
): Promise<QuotaFields> {
  await requireReadable(on.database, principal, clientId);
  return (await numbersOf(on, clientId)).global();
}

/** Takes effect at once. What is there already stays. @throws NotFoundError, ForbiddenError, InvalidError */
export async function changeRegionalQuotas(
  on: Platform,
  principal: Principal,
  clientId: number,
  regionId: number,
  changes: Changes,
): Promise<QuotaFields> {
  regionOf(on, regionId);
  await change(on, principal, clientId, regionId, REGIONAL_QUOTAS, changes);
  return (await numbersOf(on, clientId)).regional(regionId);
}

/** @throws as `changeRegionalQuotas` */
export async function changeGlobalQuotas(
  on: Platform,
  principal: Principal,
  clientId: number,
  changes: Changes,
): Promise<QuotaFields> {
  await change(on, principal, clientId, NO_REGION, GLOBAL_NAMES, changes);
  return (await numbersOf(on, clientId)).global();
}

/** @throws NotFoundError */
export async function getQuotaThreshold(
  on: Platform,
  principal: Principal,
  clientId: number,
): Promise<QuotaThreshold> {
  await requireReadable(on.database, principal, clientId);
  const threshold = (await store.findThreshold(on.database.sql, clientId)) ?? DEFAULT_THRESHOLD;
  const last = await lastWarning(on.database.sql, clientId);
  return {
    client_id: clientId,
    threshold,
    last_sending: last ? isoMicros(last.mailed_at) : null,
    last_message: last ? toldOf(on, last) : null,
  };
}

/** Null for the default. @throws NotFoundError */
export async function setQuotaThreshold(
  on: Platform,
  principal: Principal,
  clientId: number,
  threshold: number | null,
): Promise<void> {
  await on.database.accept(async (tx) => {
    await lockReadable(tx, principal, clientId);
    if (threshold === null) await store.deleteThreshold(tx, clientId);
    else await store.setThreshold(tx, clientId, threshold);
  });
}
