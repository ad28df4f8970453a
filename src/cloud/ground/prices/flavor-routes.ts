import { type Static, Type } from 'typebox';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { pageOf } from '../../../lib/page.ts';
import { listQuery, ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { FlavorList, presentFlavor } from '../catalog/flavor-schema.ts';
import type { Flavor } from '../catalog/service.ts';
import { offerPrices } from './service.ts';

const FlavorListQuery = Type.Object(
  {
    ...listQuery(),
    include_prices: Type.Optional(Type.Boolean({ default: false, description: 'Include prices' })),
    disabled: Type.Optional(
      Type.Boolean({ default: true, description: "Include flavors that can't be used for new instances" }),
    ),
    exclude_linux: Type.Optional(Type.Boolean({ default: false, description: 'Exclude Linux flavors' })),
    exclude_windows: Type.Optional(Type.Boolean({ default: false, description: 'Exclude Windows flavors' })),
  },
  { additionalProperties: false },
);
type FlavorListQuery = Static<typeof FlavorListQuery>;

export function flavorRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Flavors'], params: ProjectRegionParams });

  api.get('/cloud/v1/flavors/:project_id/:region_id', 'listFlavors', 'List instance flavors', {
    query: FlavorListQuery,
    answer: FlavorList,
    handler: async ({ scope, query }) => {
      const prices = await offerPrices(on, scope, query.include_prices);
      return pageOf(listed(on.catalog.flavors(scope.regionId), query), query, (flavor) =>
        presentFlavor(flavor, prices?.flavor(flavor.flavor_id)),
      );
    },
  });
}

function listed(flavors: readonly Flavor[], query: FlavorListQuery): Flavor[] {
  return flavors.filter(
    (flavor) =>
      flavor.offered_for.includes('instances') &&
      (query.disabled !== false || !flavor.disabled) &&
      !(query.exclude_linux && flavor.os_type === 'linux') &&
      !(query.exclude_windows && flavor.os_type === 'windows'),
  );
}
