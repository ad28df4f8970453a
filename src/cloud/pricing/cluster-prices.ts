import { VOLUME_TYPES } from '../../lib/volume-types.ts';
import type { Catalog } from '../catalog/service.ts';
import type { ClusterPools } from '../clusters/pools/service.ts';
import type { Clusters } from '../clusters/service.ts';
import type { Scope } from '../projects/service.ts';
import { type ClusterPrice, clusterPrice, type PoolParts } from './cluster-formula.ts';
import type { ClusterPriceRequest } from './cluster-schema.ts';

/** The fields of an existing or possible pool that matter for its price. */
interface PricedPool {
  flavor_id: string;
  node_count: number;
  boot_volume_size: number | null;
  boot_volume_type: string | null;
  is_public_ipv4: boolean;
}

export interface ClusterPrices {
  /** Prices pools without a boot volume if they name none. @throws InvalidError for pools that aren't available */
  ofNew(scope: Scope, request: ClusterPriceRequest): ClusterPrice;
  /** Returns the price of the cluster as it is now. @throws NotFoundError */
  ofExisting(scope: Scope, name: string): Promise<ClusterPrice>;
}

export function createClusterPrices(deps: {
  catalog: Catalog;
  clusters: Pick<Clusters, 'get'>;
  clusterPools: Pick<ClusterPools, 'requirePossible'>;
}): ClusterPrices {
  const { catalog, clusters, clusterPools } = deps;

  return {
    ofNew(scope, { pools }) {
      clusterPools.requirePossible(scope, pools);
      return priceOf(
        scope,
        pools.map((pool) => ({
          flavor_id: pool.flavor_id,
          node_count: pool.node_count ?? 1,
          boot_volume_size: pool.boot_volume_size ?? null,
          boot_volume_type: pool.boot_volume_type ?? null,
          is_public_ipv4: pool.is_public_ipv4 ?? false,
        })),
      );
    },

    async ofExisting(scope, name) {
      const { pools } = await clusters.get(scope, name);
      return priceOf(scope, pools);
    },
  };

  function priceOf(scope: Scope, pools: PricedPool[]): ClusterPrice {
    const terms = catalog.clientTerms(scope.clientId);
    const { id: regionId } = scope.region;
    const parts = pools.map((pool): PoolParts => {
      const type = VOLUME_TYPES.find((known) => known === pool.boot_volume_type);
      return {
        nodes: pool.node_count,
        machineHour: catalog.flavorPrice(regionId, pool.flavor_id, terms.currency),
        bootVolume:
          pool.boot_volume_size === null
            ? null
            : {
                sizeGib: pool.boot_volume_size,
                gibHour: type && catalog.volumePrice(regionId, type, terms.currency),
              },
        publicAddress: pool.is_public_ipv4
          ? { hour: catalog.publicAddressPrice(regionId, terms.currency) }
          : null,
      };
    });
    return clusterPrice(terms, parts);
  }
}
