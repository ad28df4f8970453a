import { VOLUME_TYPES } from '../../../lib/volume-types.ts';
import type { Platform } from '../../../platform.ts';
import { priced } from '../../ground/catalog/service.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { requirePossibleClusterPool } from '../../kubernetes/clusters/pools/service.ts';
import { getCluster } from '../../kubernetes/clusters/service.ts';
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

/** Prices pools without a boot volume if they name none. @throws InvalidError for pools that aren't available */
export async function priceOfNewCluster(
  on: Platform,
  scope: Scope,
  { pools }: ClusterPriceRequest,
): Promise<ClusterPrice> {
  requirePossibleClusterPool(on, scope, pools);
  return priceOf(
    on,
    scope,
    pools.map((pool) => ({
      flavor_id: pool.flavor_id,
      node_count: pool.node_count ?? 1,
      boot_volume_size: pool.boot_volume_size ?? null,
      boot_volume_type: pool.boot_volume_type ?? null,
      is_public_ipv4: pool.is_public_ipv4 ?? false,
    })),
  );
}

/** Returns the price of the cluster as it is now. @throws NotFoundError */
export async function priceOfCluster(on: Platform, scope: Scope, name: string): Promise<ClusterPrice> {
  const { pools } = await getCluster(on, scope, name);
  return priceOf(on, scope, pools);
}

async function priceOf(on: Platform, scope: Scope, pools: PricedPool[]): Promise<ClusterPrice> {
  const { terms, hourPrice } = await on.rates.of(scope.clientId);
  const { id: regionId } = scope.region;
  const parts = pools.map((pool): PoolParts => {
    const type = VOLUME_TYPES.find((known) => known === pool.boot_volume_type);
    return {
      nodes: pool.node_count,
      machineHour: hourPrice(regionId, priced.flavor(pool.flavor_id)),
      bootVolume:
        pool.boot_volume_size === null
          ? null
          : {
              sizeGib: pool.boot_volume_size,
              gibHour: type && hourPrice(regionId, priced.volume(type)),
            },
      publicAddress: pool.is_public_ipv4 ? { hour: hourPrice(regionId, priced.publicAddress) } : null,
    };
  });
  return clusterPrice(terms, parts);
}
