import { VOLUME_TYPES } from '../../../lib/volume-types.ts';
import type { Platform } from '../../../platform.ts';
import { type PriceTerms, priced } from '../../ground/catalog/service.ts';
import { sumOf, type VolumePrice, volumePrice } from '../../ground/prices/formula.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { requirePossibleClusterPool } from '../../kubernetes/clusters/pools/service.ts';
import { getCluster } from '../../kubernetes/clusters/service.ts';
import type { ClusterPriceRequest } from './cluster-schema.ts';

/** A pool's nodes and the hourly price of each part; undefined where the price book has none. */
export interface PoolParts {
  nodes: number;
  machineHour: string | undefined;
  /** Null for bare metal. */
  bootVolume: { sizeGib: number; gibHour: string | undefined } | null;
  /** Null for pools without public addresses. */
  publicAddress: { hour: string | undefined } | null;
}

export interface ClusterPrice {
  instances: VolumePrice[];
  publicips: VolumePrice[];
  volumes: VolumePrice[];
  total_price: VolumePrice;
}

/**
 * Returns the price of a cluster. Each part of a pool costs what the formula for volumes says, times the pool's units.
 * Each part is rounded once, so that the total is exactly the sum of the parts that are shown.
 */
export function clusterPrice(terms: PriceTerms, pools: readonly PoolParts[]): ClusterPrice {
  const instances = pools.map(({ nodes, machineHour }) => volumePrice(terms, machineHour, nodes));
  const publicips = pools.flatMap(({ nodes, publicAddress }) =>
    publicAddress ? [volumePrice(terms, publicAddress.hour, nodes)] : [],
  );
  const volumes = pools.flatMap(({ nodes, bootVolume }) =>
    bootVolume ? [volumePrice(terms, bootVolume.gibHour, nodes * bootVolume.sizeGib)] : [],
  );
  return {
    instances,
    publicips,
    volumes,
    total_price: sumOf(terms, [...instances, ...publicips, ...volumes]),
  };
}

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
