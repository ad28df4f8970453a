import type { Api } from '../../../../http/server.ts';
import { InvalidError } from '../../../../lib/errors.ts';
import { ProjectRegionParams } from '../../../../lib/wire.ts';
import type { Platform } from '../../../../platform.ts';
import { FlavorList, presentFlavor } from '../../../ground/catalog/flavor-schema.ts';
import { offerPrices } from '../../../ground/prices/service.ts';
import { presentedExceeded } from '../../../ground/quotas/schema.ts';
import { AvailableFlavorsQuery } from '../changes/schema.ts';
import { flavorsForNewInstance } from '../changes/service.ts';
import { InstanceParams } from '../schema.ts';
import { getInstance } from '../service.ts';
import { checkInstanceLimits } from './limits.ts';
import {
  CheckInstanceLimits,
  ConsoleAnswer,
  ConsoleQuery,
  ExceededInstanceQuotas,
  FlavorsForVolumes,
  NamingRestrictions,
} from './schema.ts';

const BASE = '/cloud/v1/instances/:project_id/:region_id';
const tags = ['Instances'];

/** Routes for what is available: flavors, room in the quotas, a console. */
export function instanceOfferRoutes(app: Api, on: Platform): void {
  app.post(`${BASE}/available_flavors`, {
    config: { access: 'read', onlyAsks: true, refuses: [409] },
    schema: {
      operationId: 'listFlavorsForVolumes',
      summary: 'List flavors for the given volumes',
      description:
        'Lists flavors that are compatible with the images of the volumes, in the order of the catalogue.',
      tags,
      params: ProjectRegionParams,
      querystring: AvailableFlavorsQuery,
      body: FlavorsForVolumes,
      response: { 200: FlavorList },
    },
    handler: async ({ scope, query, body }) => {
      const flavors = await flavorsForNewInstance(on, scope, body.volumes);
      const prices = await offerPrices(on, scope, query.include_prices);
      const results = flavors.map((flavor) => presentFlavor(flavor, prices?.flavor(flavor.flavor_id)));
      return { count: results.length, results };
    },
  });

  app.get(`${BASE}/available_names`, {
    config: { access: 'read' },
    schema: {
      operationId: 'getInstanceNamingRestrictions',
      summary: 'Get the restrictions on names of instances',
      description: 'There are none beyond the form of names and templates.',
      deprecated: true,
      tags,
      params: ProjectRegionParams,
      response: { 200: NamingRestrictions },
    },
    handler: async () => ({
      custom_name_allowed: true,
      name_templates_limited: false,
      allowed_name_templates: null,
      allowed_name_win_templates: null,
      allowed_bm_name_templates: null,
      allowed_bm_name_win_templates: null,
    }),
  });

  app.post('/cloud/v2/instances/:project_id/:region_id/check_limits', {
    config: { access: 'read', onlyAsks: true },
    schema: {
      operationId: 'checkInstanceLimits',
      summary: 'Check quotas for instances',
      description: 'Returns the quotas that these instances would exceed. Nothing is reserved.',
      tags,
      params: ProjectRegionParams,
      body: CheckInstanceLimits,
      response: { 200: ExceededInstanceQuotas },
    },
    handler: async ({ scope, body }) => presentedExceeded(await checkInstanceLimits(on, scope, body)),
  });

  app.get(`${BASE}/:instance_id/get_console`, {
    config: { access: 'read', secretAnswer: true },
    schema: {
      operationId: 'getInstanceConsole',
      summary: 'Get a console of an instance',
      description:
        'Simulated machines run no guest and have no console. In a region with simulated infrastructure, this always returns 400.',
      tags,
      params: InstanceParams,
      querystring: ConsoleQuery,
      response: { 200: ConsoleAnswer },
    },
    handler: async ({ scope, params }) => {
      await getInstance(on, scope, params.instance_id);
      throw new InvalidError({
        console_type: [
          `Region ${scope.region.display_name} has simulated machines, which run no guest and have no console.`,
        ],
      });
    },
  });
}
