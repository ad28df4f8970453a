import { type FieldProblem, InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { foundById, isUuid } from '../../../lib/ids.ts';
import { SNAPSHOT_TYPES, VOLUME_TYPES, type VolumeType } from '../../../lib/volume-types.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { isBareMetal } from '../../ground/catalog/flavor-schema.ts';
import { type Catalog, leadsOutside, priced } from '../../ground/catalog/service.ts';
import { asTotal, sumOf, type VolumePrice, volumePrice } from '../../ground/prices/formula.ts';
import { familiesOf } from '../../network/addresses/schema.ts';
import { getVolume } from '../../storage/volumes/service.ts';
import { getSnapshot } from '../../storage/volumes/snapshots/service.ts';
import { isTrafficMetered } from '../costs/service.ts';
import type * as instanceSchema from './instance-schema.ts';
import * as schema from './schema.ts';
import { partsOfInstance, snapshotsById } from './store.ts';

interface Parts {
  flavorId: string;
  volumes: readonly schema.PricedVolume[];
  publicAddresses: number;
  floatingIps: number;
  /** So many instances like this. */
  count: number;
}

/** Prices each thing once, as it is metered. Returns the prices by part. */
async function pricesOf(on: Platform, scope: Scope, { flavorId, volumes, publicAddresses, floatingIps, count }: Parts) {
  const { regionId } = scope;
  const { terms, hourPrice } = await on.rates.of(scope.clientId);
  const times = (amount: number, price: VolumePrice): VolumePrice[] => Array(amount * count).fill(price);
  const address = volumePrice(terms, hourPrice(regionId, priced.publicAddress), 1);
  const sku = isBareMetal(flavorId) ? 'baremetal' : 'virtual';
  const gb = isTrafficMetered(on, regionId, ['machine']) ? hourPrice(regionId, priced.egressTraffic(sku)) : undefined;
  return {
    terms,
    per_gb: gb === undefined ? null : { [`egress_traffic_${sku}`]: volumePrice(terms, gb, 1).price_per_hour },
    flavor: times(1, volumePrice(terms, hourPrice(regionId, priced.flavor(flavorId)), 1)),
    external_ip: times(publicAddresses, address),
    floating_ip: times(floatingIps, address),
    volumes: VOLUME_TYPES.flatMap((type) => {
      const ofType = volumes.filter(({ volumeType }) => volumeType === type);
      const price = hourPrice(regionId, priced.volume(type));
      const prices = ofType.flatMap(({ sizeGib }) => times(1, volumePrice(terms, price, sizeGib)));
      return prices.length === 0 ? [] : [{ type, prices }];
    }),
  };
}

type PricesByPart = Awaited<ReturnType<typeof pricesOf>>;

function totalOf({ terms, flavor, external_ip, floating_ip, volumes }: PricesByPart) {
  return sumOf(terms, [...flavor, ...external_ip, ...floating_ip, ...volumes.flatMap(({ prices }) => prices)]);
}

async function volumesOf(
  on: Platform,
  scope: Scope,
  wishes: readonly instanceSchema.PricedVolumeRequest[],
): Promise<schema.PricedVolume[]> {
  const snapshots = await snapshotsById(
    on.database.sql,
    scope,
    wishes.flatMap(({ source, snapshot_id: id }) => (source === 'snapshot' && isUuid(id ?? '') ? (id ?? '') : [])),
  );
  return wishes.flatMap((wish) => {
    const { source, size, snapshot_id, type_name } = wish;
    if (source === 'existing-volume') return [];
    const snapshot = snapshots.get((snapshot_id ?? '').toLowerCase());
    if (source === 'snapshot' && !snapshot) throw new NotFoundError('Snapshot', snapshot_id ?? '');
    const shape = schema.pricedVolume(
      {
        source,
        // A volume of an instance may be larger than its snapshot.
        size: source === 'snapshot' ? null : (size ?? null),
        snapshot_id: snapshot_id ?? null,
        type_name: type_name ?? null,
      },
      snapshot,
    );
    return { ...shape, sizeGib: size ?? shape.sizeGib };
  });
}

/** Returns what the instances would cost, by part and in total. @throws InvalidError, NotFoundError for a snapshot */
export async function priceOfNewInstance(
  on: Platform,
  scope: Scope,
  request: instanceSchema.InstancePriceRequest,
): Promise<instanceSchema.InstancePrice> {
  const { flavor: flavorId, interfaces, volumes: wishes = [] } = request;
  const problems = [...flavorProblems(on.catalog, scope, flavorId), ...requestProblems(request)];
  if (problems.length > 0) throw new InvalidError(problems);
  const isPublic = (one: (typeof interfaces)[number]) =>
    one.type === 'external' ||
    ('network_id' in one && one.network_id !== undefined && leadsOutside(scope.region, one.network_id.toLowerCase()));
  const prices = await pricesOf(on, scope, {
    flavorId,
    volumes: await volumesOf(on, scope, wishes),
    publicAddresses: interfaces.filter(
      (one) => isPublic(one) && familiesOf('ip_family' in one ? one.ip_family : undefined).includes('IPv4'),
    ).length,
    floatingIps: interfaces.filter((one) => 'floating_ip' in one && one.floating_ip?.source === 'new').length,
    count: (request.names ?? request.name_templates ?? ['one']).length,
  });
  return presented(prices, totalOf(prices));
}

/** Returns what the instance costs as it is, with its volumes and public addresses. @throws NotFoundError */
export async function priceOfInstance(on: Platform, scope: Scope, id: string): Promise<VolumePrice> {
  const parts = await foundById('Instance', id, () => partsOfInstance(on.database.sql, scope, id));
  const prices = await pricesOf(on, scope, {
    flavorId: parts.flavor_id,
    volumes: parts.volumes.map((one) => ({ sizeGib: one.size_gib, volumeType: one.volume_type })),
    publicAddresses: parts.public_addresses,
    floatingIps: parts.floating_ips,
    count: 1,
  });
  return totalOf(prices);
}

function presented(prices: PricesByPart, total: VolumePrice): instanceSchema.InstancePrice {
  const { terms, per_gb, flavor, external_ip, floating_ip, volumes } = prices;
  const sum = (list: VolumePrice[]) => (list.length === 0 ? null : sumOf(terms, list));
  const [machines, addresses, floating] = [sum(flavor), sum(external_ip), sum(floating_ip)];
  const byType = volumes.map(({ type, prices: of }) => [type, sumOf(terms, of)] as const);
  const each = (field: 'price_per_hour' | 'price_per_month'): instanceSchema.InstancePriceParts => ({
    flavor: machines?.[field] ?? null,
    external_ip: addresses?.[field] ?? null,
    floating_ip: floating?.[field] ?? null,
    volumes: byType.length === 0 ? null : Object.fromEntries(byType.map(([type, price]) => [type, price[field]])),
  });
  const isShown = total.price_status === 'show';
  const resources = [
    'flavor',
    ...(external_ip.length > 0 ? ['external_ip'] : []),
    ...(floating_ip.length > 0 ? ['floating_ip'] : []),
    ...volumes.map(({ type }) => type),
    ...Object.keys(per_gb ?? {}),
  ];
  return {
    ...asTotal(total),
    discount_percent: isShown ? terms.discount : '0',
    discount_details: isShown ? resources.map((resource) => ({ resource, discount: terms.discount })) : [],
    per_gb,
    per_hour: each('price_per_hour'),
    per_month: each('price_per_month'),
    vm_count: flavor.length,
  };
}

function flavorProblems(catalog: Catalog, { regionId }: Scope, flavorId: string): FieldProblem[] {
  if (catalog.flavor(regionId, flavorId)?.offered_for.includes('instances')) return [];
  return [{ field: 'flavor', message: `This region has no instance flavor ${flavorId}.` }];
}

function requestProblems({ names, name_templates, volumes = [] }: instanceSchema.InstancePriceRequest): FieldProblem[] {
  const problems = volumes.flatMap(({ source, ...wish }, index) =>
    source === 'existing-volume'
      ? []
      : schema.volumeRequestProblems({ ...wish, source }).map(({ field, message }) => ({
          field: `volumes.${index}.${field}`,
          message,
        })),
  );
  if (names && name_templates) {
    problems.push({
      field: 'name_templates',
      message: 'Is not allowed together with names; send one of them.',
    });
  }
  return problems;
}

/**
 * Returns what the volume would cost the project's account. A type without a price in the book, such as one that the
 * region doesn't offer, has the status `error`.
 * @throws InvalidError, NotFoundError for the snapshot
 */
export async function priceOfVolume(on: Platform, scope: Scope, request: schema.VolumePriceRequest) {
  const problems = schema.volumeRequestProblems(request);
  if (problems.length > 0) throw new InvalidError(problems);
  const snapshot = await snapshotOf(on, scope, request);
  return priceOf(on, scope, schema.pricedVolume(request, snapshot));
}

/**
 * Returns what a snapshot of the volume would cost: the same as a volume of its size and type.
 * @throws InvalidError for a type without snapshots, NotFoundError for the volume
 */
export async function priceOfSnapshot(on: Platform, scope: Scope, { volume_id }: schema.SnapshotPriceRequest) {
  const volume = sized(await getVolume(on, scope, volume_id));
  if (!SNAPSHOT_TYPES.includes(volume.volumeType)) {
    const message = `Is of type ${volume.volumeType}; snapshots are only available for ${SNAPSHOT_TYPES.join(' and ')} volumes.`;
    throw new InvalidError({ volume_id: [message] });
  }
  return priceOf(on, scope, volume);
}

async function priceOf(on: Platform, scope: Scope, { sizeGib, volumeType }: schema.PricedVolume): Promise<VolumePrice> {
  const prices = await on.rates.of(scope.clientId);
  return volumePrice(prices.terms, prices.hourPrice(scope.regionId, priced.volume(volumeType)), sizeGib);
}

async function snapshotOf(on: Platform, scope: Scope, request: schema.VolumePriceRequest) {
  const id = request.snapshot_id ?? null;
  return id === null ? undefined : sized(await getSnapshot(on, scope, id));
}

function sized(row: { size_gib: number; volume_type: VolumeType }): schema.PricedVolume {
  return { sizeGib: row.size_gib, volumeType: row.volume_type };
}
