import { InvalidError } from '../../../lib/errors.ts';
import { SNAPSHOT_TYPES, type VolumeType } from '../../../lib/volume-types.ts';
import { priced } from '../../ground/catalog/service.ts';
import { type VolumePrice, volumePrice } from '../../ground/prices/formula.ts';
import type { Rates } from '../../ground/prices/service.ts';
import type { Scope } from '../../ground/projects/service.ts';
import type { Snapshots } from '../../storage/snapshots/service.ts';
import type { Volumes } from '../../storage/volumes/service.ts';
import type { SnapshotPriceRequest, VolumePriceRequest } from './schema.ts';
import { type PricedVolume, pricedVolume, volumeRequestProblems } from './volume-request.ts';

export interface Pricing {
  /**
   * Returns what the volume would cost the project's account. A type without a price in the book, such as one that the
   * region doesn't offer, has the status `error`.
   * @throws InvalidError, NotFoundError for the snapshot
   */
  volume(scope: Scope, request: VolumePriceRequest): Promise<VolumePrice>;
  /**
   * Returns what a snapshot of the volume would cost: the same as a volume of its size and type.
   * @throws InvalidError for a type without snapshots, NotFoundError for the volume
   */
  snapshot(scope: Scope, request: SnapshotPriceRequest): Promise<VolumePrice>;
}

export function createPricing(deps: {
  rates: Pick<Rates, 'of'>;
  snapshots: Pick<Snapshots, 'get'>;
  volumes: Pick<Volumes, 'get'>;
}): Pricing {
  const { rates, snapshots, volumes } = deps;
  return {
    async volume(scope, request) {
      const problems = volumeRequestProblems(request);
      if (problems.length > 0) throw new InvalidError(problems);
      const snapshot = await snapshotOf(scope, request);
      return priceOf(scope, pricedVolume(request, snapshot));
    },

    async snapshot(scope, { volume_id }) {
      const volume = sized(await volumes.get(scope, volume_id));
      if (!SNAPSHOT_TYPES.includes(volume.volumeType)) {
        const message = `Is of type ${volume.volumeType}; snapshots are only available for ${SNAPSHOT_TYPES.join(' and ')} volumes.`;
        throw new InvalidError({ volume_id: [message] });
      }
      return priceOf(scope, volume);
    },
  };

  async function priceOf(scope: Scope, { sizeGib, volumeType }: PricedVolume): Promise<VolumePrice> {
    const prices = await rates.of(scope.clientId);
    return volumePrice(prices.terms, prices.hourPrice(scope.regionId, priced.volume(volumeType)), sizeGib);
  }

  async function snapshotOf(scope: Scope, request: VolumePriceRequest): Promise<PricedVolume | undefined> {
    const id = request.snapshot_id ?? null;
    return id === null ? undefined : sized(await snapshots.get(scope, id));
  }
}

function sized(row: { size_gib: number; volume_type: VolumeType }): PricedVolume {
  return { sizeGib: row.size_gib, volumeType: row.volume_type };
}
