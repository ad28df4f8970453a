import type { Database } from '../../../db/database.ts';
import type { Clock } from '../../../lib/clock.ts';
import { InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { isoMicros } from '../../../lib/timestamps.ts';
import type { Principal } from '../../../requests/principal.ts';
import type { Catalog } from '../catalog/service.ts';
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

/** What accounts may have, and what they have. */
export interface Quotas {
  /** Those of the caller's account. */
  all(principal: Principal): Promise<AllQuotas>;
  /** @throws NotFoundError for a client that isn't the caller's, and for an unknown region */
  regional(principal: Principal, clientId: number, regionId: number): Promise<QuotaFields>;
  /** @throws NotFoundError */
  global(principal: Principal, clientId: number): Promise<QuotaFields>;
  /** Takes effect at once. What is there already stays. @throws NotFoundError, ForbiddenError, InvalidError */
  changeRegional(
    principal: Principal,
    clientId: number,
    regionId: number,
    changes: Changes,
  ): Promise<QuotaFields>;
  /** @throws as `changeRegional` */
  changeGlobal(principal: Principal, clientId: number, changes: Changes): Promise<QuotaFields>;
  /** @throws NotFoundError */
  threshold(principal: Principal, clientId: number): Promise<QuotaThreshold>;
  /** Null for the default. @throws NotFoundError */
  setThreshold(principal: Principal, clientId: number, threshold: number | null): Promise<void>;
}

export function createQuotas(deps: {
  database: Database;
  catalog: Pick<Catalog, 'regions'>;
  clock: Clock;
}): Quotas {
  const { database, catalog, clock } = deps;

  async function numbersOf(clientId: number) {
    const usage = await store.usageOf(database.sql, clientId);
    const limits = await store.limitsOf(database.sql, clientId);
    const lists = await store.listedLimits(database.sql, clientId, clock.now());
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
        ...fields(regionId, REGIONAL_QUOTAS, regionOf(regionId).quotas),
        region_id: regionId,
      }),
    };
  }

  function regionOf(regionId: number) {
    const region = catalog.regions.get(regionId);
    if (!region) throw new NotFoundError('Region', regionId);
    return region;
  }

  /** What a mail told, in the published form: limit and usage are under the name of either. */
  function toldOf({ attribute, region_id, used: usage, most: limit }: Warning): Told {
    const uses = { [limitField(attribute)]: { limit, usage }, [usageField(attribute)]: { limit, usage } };
    if (region_id === NO_REGION) return { global_quotas: uses, regional_quotas: [] };
    const region_name = catalog.regions.get(region_id)?.display_name ?? '';
    return { global_quotas: {}, regional_quotas: [{ region_id, region_name, ...uses }] };
  }

  async function change(
    principal: Principal,
    clientId: number,
    regionId: number,
    quotas: readonly string[],
    changes: Changes,
  ): Promise<void> {
    await requireChangeable(database, principal, clientId);
    const limits = quotas.flatMap((attribute) => {
      const number = changes[limitField(attribute)];
      return number === undefined ? [] : [{ region_id: regionId, attribute, number }];
    });
    if (limits.length === 0) throw new InvalidError({ body: ['Name at least one limit.'] });
    await database.accept(principal, async (tx) => {
      await lockReadable(tx, principal, clientId);
      await store.changeLimits(tx, clientId, limits);
    });
  }

  return {
    async all(principal) {
      const { global, regional, regionIds } = await numbersOf(principal.clientId);
      const regions = [...catalog.regions.keys()].filter((id) => regionIds.has(id));
      return { global_quotas: global(), regional_quotas: regions.map(regional) };
    },

    async regional(principal, clientId, regionId) {
      await requireReadable(database, principal, clientId);
      regionOf(regionId);
      return (await numbersOf(clientId)).regional(regionId);
    },

    async global(principal, clientId) {
      await requireReadable(database, principal, clientId);
      return (await numbersOf(clientId)).global();
    },

    async changeRegional(principal, clientId, regionId, changes) {
      regionOf(regionId);
      await change(principal, clientId, regionId, REGIONAL_QUOTAS, changes);
      return (await numbersOf(clientId)).regional(regionId);
    },

    async changeGlobal(principal, clientId, changes) {
      await change(principal, clientId, NO_REGION, GLOBAL_NAMES, changes);
      return (await numbersOf(clientId)).global();
    },

    async threshold(principal, clientId) {
      await requireReadable(database, principal, clientId);
      const threshold = (await store.findThreshold(database.sql, clientId)) ?? DEFAULT_THRESHOLD;
      const last = await lastWarning(database.sql, clientId);
      return {
        client_id: clientId,
        threshold,
        last_sending: last ? isoMicros(last.mailed_at) : null,
        last_message: last ? toldOf(last) : null,
      };
    },

    async setThreshold(principal, clientId, threshold) {
      await database.accept(principal, async (tx) => {
        await lockReadable(tx, principal, clientId);
        if (threshold === null) await store.deleteThreshold(tx, clientId);
        else await store.setThreshold(tx, clientId, threshold);
      });
    },
  };
}
