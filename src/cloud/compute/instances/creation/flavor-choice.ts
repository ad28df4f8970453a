import type { KeptFlavor } from '../../../../db/json-columns.ts';
import { type FieldProblem, ForbiddenError, InvalidError } from '../../../../lib/errors.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { isBareMetal } from '../../../ground/catalog/flavor-schema.ts';
import type { Catalog, Flavor } from '../../../ground/catalog/service.ts';
import type { ImageSource } from '../../../storage/image-sources/in-transaction.ts';
import * as instanceVolumes from '../../../storage/volumes/of-instances/in-transaction.ts';
import type { PossibleVolume } from '../offers/schema.ts';
import { volumeProblems } from './request-problems.ts';

/**
 * Returns the flavor for an instance. `field` is the request's field that names it.
 * @throws InvalidError for a flavor that isn't offered for instances here, ForbiddenError for one that has run out
 */
export function usableFlavor(
  catalog: Catalog,
  regionId: number,
  flavorId: string,
  field: 'flavor' | 'flavor_id' = 'flavor',
): Flavor {
  const flavor = catalog.flavor(regionId, flavorId);
  if (!flavor?.offered_for.includes('instances')) {
    throw new InvalidError({
      [field]: [
        `This region has no instance flavor ${flavorId}; see GET /cloud/v1/flavors/{project_id}/{region_id} for those it offers.`,
      ],
    });
  }
  if (flavor.disabled) {
    throw new ForbiddenError(`Flavor ${flavorId} has run out in this region; choose another one`);
  }
  return flavor;
}

export function imageProblems(
  flavor: Flavor,
  images: readonly (ImageSource | undefined)[],
  sshKeyName: string | null,
): FieldProblem[] {
  return images.flatMap((image, index): FieldProblem[] => {
    if (!image) return [];
    const field = `volumes.${index}.image_id`;
    const problems: FieldProblem[] = [];
    const complain = (name: string, message: string) => void problems.push({ field: name, message });
    for (const message of imageMisfits(flavor, image)) complain(field, message);
    if (image.ssh_key === 'required' && sshKeyName === null) {
      complain('ssh_key_name', `Image ${image.name} requires an SSH key.`);
    }
    if (image.ssh_key === 'deny' && sshKeyName !== null) {
      complain('ssh_key_name', `Image ${image.name} doesn't support SSH keys; leave it out.`);
    }
    return problems;
  });
}

/** As published: the password on Windows is that of its user Admin. */
export function userProblems(
  username: string | undefined,
  images: readonly (ImageSource | undefined)[],
): FieldProblem[] {
  const windows = images.find((image) => image?.os_type === 'windows');
  if (!username || !windows) return [];
  const message = `Image ${windows.name} is Windows, where password is that of the user Admin; leave username out.`;
  return [{ field: 'username', message }];
}

/** Returns why a machine of the flavor can't start from the image. */
export function imageMisfits(flavor: Pick<Flavor, 'flavor_id' | 'ram' | 'architecture'>, image: ImageSource): string[] {
  const misfits: string[] = [];
  if (image.min_ram > flavor.ram) {
    misfits.push(
      `Image ${image.name} requires ${image.min_ram} MiB of memory, but flavor ${flavor.flavor_id} has ${flavor.ram}.`,
    );
  }
  if (image.architecture !== flavor.architecture) {
    misfits.push(`Image ${image.name} is for ${image.architecture}, but the flavor is ${flavor.architecture}.`);
  }
  if (image.is_baremetal !== isBareMetal(flavor.flavor_id)) {
    misfits.push(`Image ${image.name} is only for ${image.is_baremetal ? 'bare metal' : 'virtual'} machines.`);
  }
  return misfits;
}

/** Returns why a machine can't change from one flavor to the other; undefined when it can. */
export function misfit(current: KeptFlavor, wanted: Flavor): string | undefined {
  if (wanted.flavor_id === current.flavor_id) {
    return `The instance already has flavor ${wanted.flavor_id}; choose another one.`;
  }
  if (isBareMetal(wanted.flavor_id) !== isBareMetal(current.flavor_id)) {
    return `Flavor ${wanted.flavor_id} is for another type of machine; choose one like ${current.flavor_id}.`;
  }
  for (const property of ['architecture', 'os_type'] as const) {
    if (wanted[property] !== current[property]) {
      return `Flavor ${wanted.flavor_id} is for ${wanted[property]}, but the disk of the instance is for ${current[property]}.`;
    }
  }
  return undefined;
}

/** Returns the part of a flavor that an instance keeps. */
export function keptFlavor(flavor: Flavor): KeptFlavor {
  const { regions: _, offered_for: __, disabled: ___, ...rest } = flavor;
  return rest;
}

/** Returns the volume as a creation would ask for it. If its source is still unknown, it counts as a blank volume. */
function knownVolume(volume: PossibleVolume, { region }: Pick<Scope, 'region'>): instanceVolumes.InstanceVolumeWish {
  const { source, image_id, snapshot_id, volume_id } = volume;
  const size = volume.size ?? undefined;
  const type_name = volume.type_name ?? undefined;
  if (source === 'existing-volume' && volume_id) return { source, volume_id };
  if (source === 'image' && image_id) return { source, image_id, size, type_name };
  if (source === 'snapshot' && snapshot_id) return { source, snapshot_id, size, type_name };
  return { source: 'new-volume', type_name: type_name ?? region.available_volume_types?.[0] };
}

/**
 * Lists the flavors that a new instance with these volumes may have, in the same order.
 * @throws InvalidError, ConflictError for a volume in use
 */
export async function flavorsForNewInstance(on: Platform, scope: Scope, volumes: PossibleVolume[]): Promise<Flavor[]> {
  const problems = volumeProblems(volumes);
  if (problems.length > 0) throw new InvalidError(problems);
  const planned = await on.database.transaction((tx) =>
    instanceVolumes.plan(
      tx,
      scope,
      on.catalog,
      volumes.map((volume) => knownVolume(volume, scope)),
    ),
  );
  return offeredWith(
    on,
    scope,
    planned.flatMap(({ image }) => image ?? []),
  );
}

/** Returns the flavors for instances that fit all of these images, in the catalogue's order. */
export function offeredWith(on: Platform, scope: Scope, images: ImageSource[]): Flavor[] {
  return on.catalog
    .flavors(scope.regionId)
    .filter(
      (flavor) =>
        flavor.offered_for.includes('instances') &&
        !flavor.disabled &&
        images.every((image) => imageMisfits(flavor, image).length === 0),
    );
}
