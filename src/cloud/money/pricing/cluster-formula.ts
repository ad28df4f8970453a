import type { PriceTerms } from '../../ground/catalog/service.ts';
import { sumOf, type VolumePrice, volumePrice } from '../../ground/prices/formula.ts';

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
