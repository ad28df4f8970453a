import { type Static, Type } from 'typebox';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { pageOf } from '../../../lib/page.ts';
import { listQuery, ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { isGpu, KubernetesFlavorList, presentKubernetesFlavor } from '../catalog/flavor-schema.ts';
import { KubernetesVersionList, presentKubernetesVersion } from '../catalog/kubernetes-schema.ts';
import type { Catalog, Flavor, Region } from '../catalog/service.ts';
import { offerPrices } from './service.ts';

const VersionListQuery = Type.Object(listQuery(), { additionalProperties: false });
const FlavorListQuery = Type.Object(
  {
    ...listQuery(),
    exclude_gpu: Type.Optional(Type.Boolean({ default: false, description: 'Exclude GPU flavors' })),
    include_capacity: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Include the number of available machines, where it is counted',
      }),
    ),
    include_prices: Type.Optional(Type.Boolean({ default: false, description: 'Include prices' })),
  },
  { additionalProperties: false },
);
type FlavorListQuery = Static<typeof FlavorListQuery>;

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
        const versions = region.has_k8s
          ? on.backends.clusterVersions(region.id, on.catalog.kubernetesVersions)
          : [];
        return pageOf(versions, query, presentKubernetesVersion);
      },
    });
  }

  api.get(
    '/cloud/v1/k8s/:project_id/:region_id/flavors',
    'listKubernetesFlavors',
    'List flavors for node pools',
    {
      query: FlavorListQuery,
      answer: KubernetesFlavorList,
      handler: async ({ scope, query }) => {
        const prices = await offerPrices(on, scope, query.include_prices);
        return pageOf(poolFlavors(on.catalog, scope.region, query), query, (flavor) =>
          presentKubernetesFlavor(flavor, prices?.flavor(flavor.flavor_id)),
        );
      },
    },
  );
}

function poolFlavors(catalog: Catalog, region: Region, query: FlavorListQuery): Flavor[] {
  if (!region.has_k8s) return [];
  return catalog
    .flavors(region.id)
    .filter((flavor) => flavor.offered_for.includes('kubernetes'))
    .filter((flavor) => !(query.exclude_gpu && isGpu(flavor.flavor_id)));
}
