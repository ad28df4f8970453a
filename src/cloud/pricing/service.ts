import { InvalidError } from '../../lib/errors.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Scope } from '../projects/service.ts';
import { type VolumePrice, volumePrice } from './formula.ts';
import type { VolumePriceRequest } from './schema.ts';
import { type PricedSnapshot, pricedVolume, volumeRequestProblems } from './volume-request.ts';

/** What this feature needs to know of snapshots. */
export interface SnapshotLookup {
  /** Undefined when the project has no such snapshot in this region. `id` may be any text. */
  findForPricing(scope: Scope, id: string): Promise<PricedSnapshot | undefined>;
}

export interface Pricing {
  /**
   * What the volume would cost the project's account. A type that the price book has no price for, which
   * includes one that the region doesn't offer, has the status `error`.
   * @throws InvalidError, NotFoundError for the snapshot
   */
  volume(scope: Scope, request: VolumePriceRequest): Promise<VolumePrice>;
}

export function createPricing(deps: { catalog: Catalog; snapshots: SnapshotLookup }): Pricing {
  const { catalog, snapshots } = deps;
  return {
    async volume(scope, request) {
      const problems = volumeRequestProblems(request);
      if (problems.length > 0) throw new InvalidError(problems);
      const snapshot = await snapshotOf(scope, request);
      const { sizeGib, volumeType } = pricedVolume(request, snapshot);
      const terms = catalog.clientTerms(scope.clientId);
      return volumePrice(terms, catalog.volumePrice(scope.region.id, volumeType, terms.currency), sizeGib);
    },
  };

  async function snapshotOf(scope: Scope, request: VolumePriceRequest): Promise<PricedSnapshot | undefined> {
    const id = request.snapshot_id ?? null;
    return id === null ? undefined : snapshots.findForPricing(scope, id);
  }
}
