import { InvalidError } from '../../../lib/errors.ts';
import { SNAPSHOT_TYPES, type VolumeType } from '../../../lib/volume-types.ts';
import type { Platform } from '../../../platform.ts';
import { priced } from '../../ground/catalog/service.ts';
import { type VolumePrice, volumePrice } from '../../ground/prices/formula.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { getVolume } from '../../storage/volumes/service.ts';
import { getSnapshot } from '../../storage/volumes/snapshots/service.ts';
import type { SnapshotPriceRequest, VolumePriceRequest } from './schema.ts';
import { type PricedVolume, pricedVolume, volumeRequestProblems } from './volume-request.ts';

/**
 * Returns what the volume would cost the project's account. A type without a price in the book, such as one that the
 * region doesn't offer, has the status `error`.
 * @throws InvalidError, NotFoundError for the snapshot
 */
export async function priceOfVolume(
  on: Platform,
  scope: Scope,
  request: VolumePriceRequest,
): Promise<VolumePrice> {
  const problems = volumeRequestProblems(request);
  if (problems.length > 0) throw new InvalidError(problems);
  const snapshot = await snapshotOf(on, scope, request);
  return priceOf(on, scope, pricedVolume(request, snapshot));
}

/**
 * Returns what a snapshot of the volume would cost: the same as a volume of its size and type.
 * @throws InvalidError for a type without snapshots, NotFoundError for the volume
 */
export async function priceOfSnapshot(
  on: Platform,
  scope: Scope,
  { volume_id }: SnapshotPriceRequest,
): Promise<VolumePrice> {
  const volume = sized(await getVolume(on, scope, volume_id));
  if (!SNAPSHOT_TYPES.includes(volume.volumeType)) {
    const message = `Is of type ${volume.volumeType}; snapshots are only available for ${SNAPSHOT_TYPES.join(' and ')} volumes.`;
    throw new InvalidError({ volume_id: [message] });
  }
  return priceOf(on, scope, volume);
}

async function priceOf(
  on: Platform,
  scope: Scope,
  { sizeGib, volumeType }: PricedVolume,
): Promise<VolumePrice> {
  const prices = await on.rates.of(scope.clientId);
  return volumePrice(prices.terms, prices.hourPrice(scope.regionId, priced.volume(volumeType)), sizeGib);
}

async function snapshotOf(
  on: Platform,
  scope: Scope,
  request: VolumePriceRequest,
): Promise<PricedVolume | undefined> {
  const id = request.snapshot_id ?? null;
  return id === null ? undefined : sized(await getSnapshot(on, scope, id));
}

function sized(row: { size_gib: number; volume_type: VolumeType }): PricedVolume {
  return { sizeGib: row.size_gib, volumeType: row.volume_type };
}
