import type { Database } from '../../../db/database.ts';
import { canonicalAddress } from '../../../lib/cidr.ts';
import { InvalidError } from '../../../lib/errors.ts';
import { found } from '../../../lib/ids.ts';
import { VOLUME_TYPES } from '../../../lib/volume-types.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { leadsOutside, type PriceTerms, priced } from '../../ground/catalog/service.ts';
import * as formula from '../../ground/prices/formula.ts';
import { requirePossibleClusterPool } from '../../kubernetes/clusters/pools/service.ts';
import { getCluster } from '../../kubernetes/clusters/service.ts';
import { familiesOf } from '../../network/addresses/schema.ts';
import type { CreateReservedFixedIp } from '../../network/reserved-fixed-ips/schema.ts';
import type { ClusterPriceRequest } from './cluster-schema.ts';
import type * as schema from './schema.ts';
import { publicAddressesOfPort, subnetToReserve } from './store.ts';

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
  instances: formula.VolumePrice[];
  publicips: formula.VolumePrice[];
  volumes: formula.VolumePrice[];
  total_price: formula.VolumePrice;
}

/**
 * Returns the price of a cluster. Each part of a pool costs what the formula for volumes says, times the pool's units.
 * Each part is rounded once, so that the total is exactly the sum of the parts that are shown.
 */
export function clusterPrice(terms: PriceTerms, pools: readonly PoolParts[]): ClusterPrice {
  const instances = pools.map(({ nodes, machineHour }) => formula.volumePrice(terms, machineHour, nodes));
  const publicips = pools.flatMap(({ nodes, publicAddress }) =>
    publicAddress ? [formula.volumePrice(terms, publicAddress.hour, nodes)] : [],
  );
  const volumes = pools.flatMap(({ nodes, bootVolume }) =>
    bootVolume ? [formula.volumePrice(terms, bootVolume.gibHour, nodes * bootVolume.sizeGib)] : [],
  );
  return {
    instances,
    publicips,
    volumes,
    total_price: formula.sumOf(terms, [...instances, ...publicips, ...volumes]),
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

interface Payer {
  clientId: number;
}

const DAY_MS = 86_400_000;

async function priceOfOfItemPrices(on: Platform, { clientId }: Payer, regionId: number, item: string, amount: number) {
  const { terms, hourPrice } = await on.rates.of(clientId);
  return formula.volumePrice(terms, amount === 0 ? '0' : hourPrice(regionId, item), amount);
}

const addresses = (on: Platform, scope: Scope, amount: number) =>
  priceOfOfItemPrices(on, scope, scope.regionId, priced.publicAddress, amount);

/** A type that the region doesn't offer has the status `error`. */
export const priceOfFileShare = (on: Platform, scope: Scope, request: schema.FileSharePriceRequest) =>
  priceOfOfItemPrices(on, scope, scope.regionId, priced.fileShare(request.type_name ?? 'standard'), request.size);

export const priceOfFloatingIps = (on: Platform, scope: Scope, { count }: schema.FloatingIpPriceRequest) =>
  addresses(on, scope, count);

export const priceOfImage = (on: Platform, scope: Scope, { size }: schema.ImagePriceRequest) =>
  priceOfOfItemPrices(on, scope, scope.regionId, priced.imageStorage, size);

/** Public IPv4 addresses cost something, all others nothing. @throws InvalidError for an unknown subnet or port */
export async function priceOfReservedFixedIp(on: Platform, scope: Scope, request: CreateReservedFixedIp) {
  return addresses(on, scope, await publicAddresses(on.database, scope, request));
}

/** Returns what one GiB of logs costs. @throws NotFoundError for the region */
export async function priceOfLogging(on: Platform, payer: Payer, regionId: number): Promise<formula.VolumePrice> {
  const { id } = found('Region', regionId, on.catalog.regions.get(regionId));
  return priceOfOfItemPrices(on, payer, id, priced.logStorage, 1);
}

/** Returns what a DDoS profile costs. @throws NotFoundError for the region */
export async function priceOfDdos(on: Platform, payer: Payer, regionId: number): Promise<schema.DdosPrice> {
  const { id } = found('Region', regionId, on.catalog.regions.get(regionId));
  const { terms, hourPrice } = await on.rates.of(payer.clientId);
  const price = formula.volumePrice(terms, hourPrice(id, priced.ddosProtection), 1);
  const hour = price.price_per_hour;
  const of = (hours: number) => (hour === null ? null : formula.timesHour(hour, hours));
  const now = on.clock.now();
  const [thisMonth, nextMonth] = [daysOfMonth(now, 0), daysOfMonth(now, 1)];
  return {
    current_month_days: thisMonth,
    current_month_days_last: thisMonth - now.getUTCDate() + 1,
    next_month_days: nextMonth,
    price: {
      feature_name: 'DDoS protection',
      period: 'hour',
      price_currency: terms.currency,
      price_per_30d: of(formula.HOURS_PER_MONTH),
      price_per_day: of(24),
      price_per_hour: hour,
      unit_name: 'profile',
      unit_size: 1,
    },
  };
}

/** Returns how many public IPv4 addresses the reservation has. @throws InvalidError */
async function publicAddresses({ sql }: Database, scope: Scope, request: CreateReservedFixedIp): Promise<number> {
  if (request.type === 'port') {
    const count = await publicAddressesOfPort(sql, scope, request.port_id);
    if (count === undefined) throw new InvalidError({ port_id: [`Port ${request.port_id} not found.`] });
    return count;
  }
  if (request.type === 'subnet') {
    const subnet = await subnetToReserve(sql, scope, request.subnet_id);
    if (!subnet) throw new InvalidError({ subnet_id: [`Subnet ${request.subnet_id} not found.`] });
    return subnet.external && subnet.ipv4 ? 1 : 0;
  }
  const outside = request.type === 'external' || leadsOutside(scope.region, request.network_id.toLowerCase());
  if (!outside) return 0;
  if (request.type !== 'ip_address') return familiesOf(request.ip_family).includes('IPv4') ? 1 : 0;
  const address = canonicalAddress(request.ip_address);
  if (!address) throw new InvalidError({ ip_address: ['Is not an IP address.'] });
  return address.family === 'IPv4' ? 1 : 0;
}

function daysOfMonth(now: Date, later: number): number {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth() + later];
  return (Date.UTC(year, month + 1) - Date.UTC(year, month)) / DAY_MS;
}
