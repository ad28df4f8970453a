import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { InvalidError, type QuotaExceededError } from '../../../../lib/errors.ts';
import { ProjectRegionParams } from '../../../../lib/wire.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { FlavorList, presentFlavor } from '../../../ground/catalog/flavor-schema.ts';
import { offerPrices } from '../../../ground/prices/service.ts';
import { presentedExceeded } from '../../../ground/quotas/schema.ts';
import { exceededQuotas } from '../../../ground/quotas/service.ts';
import { AvailableFlavorsQuery } from '../changes/schema.ts';
import { flavorsForNewInstance, usableFlavor } from '../creation/flavor-choice.ts';
import { interfaceProblems, volumeProblems } from '../creation/request-problems.ts';
import { kindProblems, ofItsKind } from '../interfaces/schema.ts';
import * as schema from './schema.ts';

/** @throws InvalidError, ForbiddenError for a flavor that has run out */
export async function checkInstanceLimits(
  on: Platform,
  scope: Scope,
  { flavor, names = [], name_templates = [], interfaces = [], volumes = [] }: schema.CheckInstanceLimits,
): Promise<QuotaExceededError['info'][]> {
  const problems = [
    ...interfaces.flatMap((one, index) => kindProblems(one, `interfaces.${index}.`)),
    ...interfaces.flatMap((one, index) => interfaceProblems(ofItsKind(one), `interfaces.${index}`)),
    ...volumeProblems(volumes),
  ];
  if (problems.length > 0) throw new InvalidError(problems);
  if (flavor !== undefined) usableFlavor(on.catalog, scope.regionId, flavor);
  const machines = names.length + name_templates.length || 1;
  const made = interfaces.filter((one) => one.floating_ip?.source === 'new');
  const disks = volumes.filter(({ source }) => source !== 'existing-volume');
  return exceededQuotas(on.database.sql, scope, {
    floating_count: machines * made.length,
    vm_count: machines,
    volume_count: machines * disks.length,
  });
}

const BASE = '/cloud/v1/instances/:project_id/:region_id';
const tags = ['Instances'];

/** Routes for what is available: flavors, room in the quotas. */
export function instanceOfferRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, params: ProjectRegionParams });

  api.post(`${BASE}/available_flavors`, 'listFlavorsForVolumes', 'List flavors for the given volumes', {
    access: 'read',
    onlyAsks: true,
    refuses: [409],
    description: 'Lists flavors that are compatible with the images of the volumes, in the order of the catalogue.',
    query: AvailableFlavorsQuery,
    body: schema.FlavorsForVolumes,
    answer: FlavorList,
    handler: async ({ scope, query, body }) => {
      const flavors = await flavorsForNewInstance(on, scope, body.volumes);
      const prices = await offerPrices(on, scope, query.include_prices);
      const results = flavors.map((flavor) => presentFlavor(flavor, prices?.flavor(flavor.flavor_id)));
      return { count: results.length, results };
    },
  });

  api.get(`${BASE}/available_names`, 'getInstanceNamingRestrictions', 'Get the restrictions on names of instances', {
    description: 'There are none beyond the form of names and templates.',
    deprecated: true,
    answer: schema.NamingRestrictions,
    handler: async () => ({
      custom_name_allowed: true,
      name_templates_limited: false,
      allowed_name_templates: null,
      allowed_name_win_templates: null,
      allowed_bm_name_templates: null,
      allowed_bm_name_win_templates: null,
    }),
  });

  api.post(
    '/cloud/v2/instances/:project_id/:region_id/check_limits',
    'checkInstanceLimits',
    'Check quotas for instances',
    {
      access: 'read',
      onlyAsks: true,
      description: 'Returns the quotas that these instances would exceed. Nothing is reserved.',
      body: schema.CheckInstanceLimits,
      answer: schema.ExceededInstanceQuotas,
      handler: async ({ scope, body }) => presentedExceeded(await checkInstanceLimits(on, scope, body)),
    },
  );
}
