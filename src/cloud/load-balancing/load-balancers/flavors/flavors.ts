import type { KeptLbFlavor } from '../../../../db/json-columns.ts';
import { ForbiddenError, InvalidError } from '../../../../lib/errors.ts';
import type { Catalog, Flavor, Region } from '../../../ground/catalog/service.ts';

const FOR_BALANCERS = 'load_balancers';

/** In the order of the catalogue, without those that are withdrawn. */
export function offeredFlavors(catalog: Catalog, regionId: number): Flavor[] {
  return catalog
    .flavors(regionId)
    .filter(({ offered_for, disabled }) => offered_for.includes(FOR_BALANCERS) && !disabled);
}

/** @throws InvalidError for an unknown flavor, ForbiddenError for one that has run out */
export function usableFlavor(catalog: Catalog, regionId: number, flavorId: string): KeptLbFlavor {
  const flavor = catalog.flavor(regionId, flavorId);
  if (!flavor?.offered_for.includes(FOR_BALANCERS)) {
    throw new InvalidError({
      flavor: [
        `This region has no load balancer flavor ${flavorId}; see GET /cloud/v1/lbflavors/{project_id}/{region_id} for those it offers.`,
      ],
    });
  }
  if (flavor.disabled) {
    throw new ForbiddenError(`Flavor ${flavorId} has run out in this region; choose another one`);
  }
  return kept(flavor);
}

/** @throws InvalidError where the region has none */
export function defaultFlavor(catalog: Catalog, region: Region): KeptLbFlavor {
  const [first] = offeredFlavors(catalog, region.id);
  if (first) return kept(first);
  const message = `Region ${region.display_name} doesn't offer load balancers; choose another region.`;
  throw new InvalidError([{ field: 'region_id', message }]);
}

const kept = ({ flavor_id, vcpus, ram }: Flavor): KeptLbFlavor => ({ flavor_id, vcpus, ram });
