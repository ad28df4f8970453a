import { type Static, Type } from 'typebox';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { found } from '../../../lib/ids.ts';
import { orderOf, pageOf } from '../../../lib/page.ts';
import { IntegerId, listQuery, OptionalChoice, OptionalFlag, OptionalText, Query } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { inMaintenance } from '../maintenance/service.ts';
import { presentRegion, RegionAnswer, RegionList } from './regions.ts';
import type { Catalog, Region } from './service.ts';

export const RegionParams = Type.Object({ region_id: IntegerId('Region ID') });

const showVolumeTypes = OptionalFlag({ default: false, description: 'Include available_volume_types' });
const RegionQuery = Query({ show_volume_types: showVolumeTypes });
const RegionListQuery = Query({
  ...listQuery(100),
  display_name: OptionalText({ maxLength: 255, description: 'Exact name, case-insensitive' }),
  product: OptionalChoice(['containers', 'inference'], 'Only regions that offer this product'),
  show_volume_types: showVolumeTypes,
  order_by: OptionalChoice(['created_at.asc', 'created_at.desc', 'display_name.asc', 'display_name.desc'], {
    default: 'created_at.desc',
  }),
});
type RegionListQuery = Static<typeof RegionListQuery>;

/** Routes for regions. All accounts see the same regions, so any account may read them. */
export function regionRoutes(app: Api, on: Pick<Platform, 'catalog' | 'maintenances'>): void {
  const api = operations(app, { tags: ['Regions'] });
  const { catalog } = on;

  api.get('/cloud/v1/regions', 'listRegions', 'List regions', {
    query: RegionListQuery,
    answer: RegionList,
    handler: async ({ query }) => {
      const showVolumeTypes = query.show_volume_types ?? false;
      const isMaintained = await inMaintenance(on);
      return pageOf(listed(catalog, query), query, (region) =>
        presentRegion(region, { showVolumeTypes, inMaintenance: isMaintained(region.id) }),
      );
    },
  });

  api.get('/cloud/v1/regions/:region_id', 'getRegion', 'Get a region', {
    params: RegionParams,
    query: RegionQuery,
    answer: RegionAnswer,
    handler: async ({ params, query }) =>
      presentRegion(regionOf(catalog, params.region_id), {
        showVolumeTypes: query.show_volume_types ?? false,
        inMaintenance: (await inMaintenance(on))(params.region_id),
      }),
  });
}

/** @throws NotFoundError */
export function regionOf(catalog: Catalog, id: number): Region {
  return found('Region', id, catalog.regions.get(id));
}

function listed(catalog: Catalog, query: RegionListQuery): Region[] {
  const name = query.display_name?.toLowerCase();
  const { product } = query;
  const [key, direction] = orderOf(query.order_by ?? 'created_at.desc');
  const sign = direction === 'asc' ? 1 : -1;
  return [...catalog.regions.values()]
    .filter((region) => name === undefined || region.display_name.toLowerCase() === name)
    .filter((region) => product === undefined || region.products.includes(product))
    .sort((a, b) => sign * (compareTexts(a[key], b[key]) || a.id - b.id));
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
