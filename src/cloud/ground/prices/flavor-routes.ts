import type { Static } from 'typebox';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { pageOf } from '../../../lib/page.ts';
import { listQuery, OptionalFlag, ProjectRegionParams, Query } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import * as flavorSchema from '../catalog/flavor-schema.ts';
import { KubernetesVersionList, presentKubernetesVersion } from '../catalog/schema.ts';
import type { Catalog, Flavor, Region } from '../catalog/service.ts';
import { offerPrices } from './service.ts';

const FlavorListQuery = Query({
  ...listQuery(),
  include_prices: OptionalFlag({ default: false, description: 'Include prices' }),
  disabled: OptionalFlag({ default: true, description: "Include flavors that can't be used for new instances" }),
  exclude_linux: OptionalFlag({ default: false, description: 'Exclude Linux flavors' }),
  exclude_windows: OptionalFlag({ default: false, description: 'Exclude Windows flavors' }),
});
type FlavorListQuery = Static<typeof FlavorListQuery>;

export function flavorRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Flavors'], params: ProjectRegionParams });

  api.get('/cloud/v1/flavors/:project_id/:region_id', 'listFlavors', 'List instance flavors', {
    query: FlavorListQuery,
    answer: flavorSchema.FlavorList,
    handler: async ({ scope, query }) => {
      const prices = await offerPrices(on, scope, query.include_prices);
      return pageOf(listed(on.catalog.flavors(scope.regionId), query), query, (flavor) =>
        flavorSchema.presentFlavor(flavor, prices?.flavor(flavor.flavor_id)),
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

const VersionListQuery = Query(listQuery());
const KubernetesOfferFlavorListQuery = Query({
  ...listQuery(),
  exclude_gpu: OptionalFlag({ default: false, description: 'Exclude GPU flavors' }),
  include_capacity: OptionalFlag({
    default: false,
    description: 'Include the number of available machines, where it is counted',
  }),
  include_prices: OptionalFlag({ default: false, description: 'Include prices' }),
});
type KubernetesOfferFlavorListQuery = Static<typeof KubernetesOfferFlavorListQuery>;

/** The same list has a path in each version of the cluster operations. */
const VERSION_PATHS = [
  { url: '/cloud/v2/k8s/:project_id/:region_id/create_versions', operationId: 'listKubernetesVersions' },
  { url: '/cloud/v1/k8s/:project_id/:region_id/create_versions', operationId: 'listKubernetesVersionsV1' },
];

/** What new clusters can be made of. A region without Kubernetes offers nothing. */
export function kubernetesOfferRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Kubernetes'], params: ProjectRegionParams });
  for (const { url, operationId } of VERSION_PATHS) {
    api.get(url, operationId, 'List Kubernetes versions for new clusters', {
      description: 'Oldest first.',
      query: VersionListQuery,
      answer: KubernetesVersionList,
      handler: async ({ scope, query }) => {
        const { region } = scope;
        const versions = region.has_k8s ? on.backends.clusterVersions(region.id, on.catalog.kubernetesVersions) : [];
        return pageOf(versions, query, presentKubernetesVersion);
      },
    });
  }

  api.get('/cloud/v1/k8s/:project_id/:region_id/flavors', 'listKubernetesFlavors', 'List flavors for node pools', {
    query: KubernetesOfferFlavorListQuery,
    answer: flavorSchema.KubernetesFlavorList,
    handler: async ({ scope, query }) => {
      const prices = await offerPrices(on, scope, query.include_prices);
      return pageOf(poolFlavors(on.catalog, scope.region, query), query, (flavor) =>
        flavorSchema.presentKubernetesFlavor(flavor, prices?.flavor(flavor.flavor_id)),
      );
    },
  });
}

function poolFlavors(catalog: Catalog, region: Region, query: KubernetesOfferFlavorListQuery): Flavor[] {
  if (!region.has_k8s) return [];
  return catalog
    .flavors(region.id)
    .filter((flavor) => flavor.offered_for.includes('kubernetes'))
    .filter((flavor) => !(query.exclude_gpu && flavorSchema.isGpu(flavor.flavor_id)));
}
