import type { PriceTerms } from '../catalog/service.ts';
import { sumOf, type VolumePrice, volumePrice } from './formula.ts';

/** Pools of one kind, and what one of each part costs for an hour; undefined where the book has no price. */
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
 * The price of a cluster: each part of a pool by the formula of volumes, for as many units as the pool has, and the
 * sum of all parts. Each part is rounded once, so that the sum is exactly that of the parts shown.
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
