import { InvalidError } from '../../lib/errors.ts';
import { found } from '../../lib/found.ts';
import { SNAPSHOT_TYPES } from '../../lib/volume-types.ts';
import type { Catalog, Image } from '../catalog/catalog.ts';
import type { Scope } from '../projects/service.ts';
import { type VolumePrice, volumePrice } from './formula.ts';
import { type OfferPrice, offerPrice } from './offers.ts';
import type { SnapshotPriceRequest, VolumePriceRequest } from './schema.ts';
import {
  type PricedSnapshot,
  type PricedVolume,
  pricedVolume,
  volumeRequestProblems,
} from './volume-request.ts';

/** What this feature needs to know of snapshots. */
export interface SnapshotLookup {
  /** Undefined when the project has no such snapshot in this region. `id` may be any text. */
  findForPricing(scope: Scope, id: string): Promise<PricedSnapshot | undefined>;
}

/** What this feature needs to know of volumes. */
export interface VolumeLookup {
  /** Undefined when the project has no such volume in this region. */
  findForPricing(scope: Scope, id: string): Promise<PricedVolume | undefined>;
}

export interface Pricing {
  /**
   * What the volume would cost the project's account. A type that the price book has no price for, which
   * includes one that the region doesn't offer, has the status `error`.
   * @throws InvalidError, NotFoundError for the snapshot
   */
  volume(scope: Scope, request: VolumePriceRequest): Promise<VolumePrice>;
  /**
   * What a snapshot of the volume would cost: as much as a volume of its size and type.
   * @throws InvalidError for a type without snapshots, NotFoundError for the volume
   */
  snapshot(scope: Scope, request: SnapshotPriceRequest): Promise<VolumePrice>;
  /** A machine of the flavor in the scope's region. */
  flavor(scope: Scope, flavorId: string): OfferPrice;
  /** The use of an image's operating system. */
  image(scope: Scope, osType: Image['os_type']): OfferPrice;
}

export function createPricing(deps: {
  catalog: Catalog;
  snapshots: SnapshotLookup;
  volumes: VolumeLookup;
}): Pricing {
  const { catalog, snapshots, volumes } = deps;
  return {
    async volume(scope, request) {
      const problems = volumeRequestProblems(request);
      if (problems.length > 0) throw new InvalidError(problems);
      const snapshot = await snapshotOf(scope, request);
      return priceOf(scope, pricedVolume(request, snapshot));
    },

    async snapshot(scope, { volume_id }) {
      const volume = found('Volume', volume_id, await volumes.findForPricing(scope, volume_id));
      if (!SNAPSHOT_TYPES.includes(volume.volumeType)) {
        const message = `Is of type ${volume.volumeType}; snapshots can be taken of ${SNAPSHOT_TYPES.join(' and ')} volumes only.`;
        throw new InvalidError({ volume_id: [message] });
      }
      return priceOf(scope, volume);
    },

    flavor(scope, flavorId) {
      const terms = catalog.clientTerms(scope.clientId);
      return offerPrice(terms, catalog.flavorPrice(scope.regionId, flavorId, terms.currency));
    },

    image(scope, osType) {
      const terms = catalog.clientTerms(scope.clientId);
      return offerPrice(terms, catalog.imagePrice(scope.regionId, osType, terms.currency));
    },
  };

  function priceOf(scope: Scope, { sizeGib, volumeType }: PricedVolume): VolumePrice {
    const terms = catalog.clientTerms(scope.clientId);
    return volumePrice(terms, catalog.volumePrice(scope.regionId, volumeType, terms.currency), sizeGib);
  }

  async function snapshotOf(scope: Scope, request: VolumePriceRequest): Promise<PricedSnapshot | undefined> {
    const id = request.snapshot_id ?? null;
    return id === null ? undefined : snapshots.findForPricing(scope, id);
  }
}
