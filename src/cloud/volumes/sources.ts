import type { Transaction } from '../../db/database.ts';
import type { FieldProblem } from '../../lib/errors.ts';
import type { Catalog, Image, VolumeTypeName } from '../catalog/catalog.ts';
import { type Place, placeOf } from '../projects/place.ts';
import type { Scope } from '../projects/service.ts';

export const MAX_VOLUME_GIB = 102_400;

/** A volume that somebody wants, as creation of volumes and of instances describe it. */
export interface VolumeWish {
  source: 'image' | 'new-volume' | 'snapshot';
  size?: number | undefined;
  type_name?: VolumeTypeName | undefined;
  image_id?: string | undefined;
  snapshot_id?: string | undefined;
}

/** What a volume becomes once its source is known. */
export interface VolumeShape {
  sizeGib: number;
  volumeType: VolumeTypeName;
  bootable: boolean;
  imageMetadata: Record<string, string> | null;
  image: Image | undefined;
  imageId: string | null;
  snapshotId: string | null;
}

export interface SnapshotSource {
  id: string;
  sizeGib: number;
  volumeType: VolumeTypeName;
  bootable: boolean;
  imageMetadata: Record<string, string> | null;
  usable: boolean;
}

/** What this feature needs to know of snapshots. */
export interface SnapshotSources {
  /** The snapshots of the place, by id, kept from being removed until the transaction ends. */
  find(tx: Transaction, place: Place, ids: string[]): Promise<Map<string, SnapshotSource>>;
}

/**
 * Sizes and types of the wanted volumes. `fieldOf(i)` is where the request has the i-th.
 * A volume with problems is left out of `shapes`.
 */
export async function volumeShapes(
  tx: Transaction,
  scope: Scope,
  wishes: readonly VolumeWish[],
  deps: { catalog: Catalog; snapshots: SnapshotSources; fieldOf(index: number): string },
): Promise<{ shapes: (VolumeShape | undefined)[]; problems: FieldProblem[] }> {
  const ids = wishes.flatMap((wish) => wish.snapshot_id ?? []);
  const snapshots = await deps.snapshots.find(tx, placeOf(scope), ids);
  const problems: FieldProblem[] = [];
  const shapes = wishes.map((wish, index) => {
    const found: FieldProblem[] = [];
    const field = deps.fieldOf(index);
    const complain = (name: string, message: string) =>
      void found.push({ field: field === '' ? name : `${field}.${name}`, message });
    const shape = shapeOf(wish, scope, deps.catalog, snapshots, complain);
    const offered = scope.region.available_volume_types;
    if (shape && offered && !offered.includes(shape.volumeType)) {
      complain(
        'type_name',
        `This region has no volumes of type ${shape.volumeType}; it has ${offered.join(', ')}.`,
      );
    }
    problems.push(...found);
    return found.length === 0 ? shape : undefined;
  });
  return { shapes, problems };
}

function shapeOf(
  wish: VolumeWish,
  scope: Scope,
  catalog: Catalog,
  snapshots: Map<string, SnapshotSource>,
  complain: (name: string, message: string) => void,
): VolumeShape | undefined {
  if (wish.source === 'snapshot') return fromSnapshot(wish, snapshots, complain);
  const volumeType = wish.type_name ?? 'standard';
  if (wish.source === 'new-volume') {
    return { ...blank, sizeGib: wish.size ?? 1, volumeType };
  }
  const image = catalog.image(scope.region.id, (wish.image_id ?? '').toLowerCase());
  if (!image) {
    complain('image_id', `No image ${wish.image_id} in this region.`);
    return undefined;
  }
  const smallest = Math.max(image.min_disk, 1);
  if (wish.size !== undefined && wish.size < smallest) {
    complain('size', `Image ${image.name} needs at least ${smallest} GiB.`);
  }
  return {
    ...blank,
    sizeGib: wish.size ?? smallest,
    volumeType,
    bootable: true,
    image,
    imageId: image.id,
    imageMetadata: {
      image_id: image.id,
      image_name: image.name,
      os_type: image.os_type,
      os_distro: image.os_distro,
      os_version: image.os_version,
      architecture: image.architecture,
    },
  };
}

const blank = { bootable: false, imageMetadata: null, image: undefined, imageId: null, snapshotId: null };

function fromSnapshot(
  wish: VolumeWish,
  snapshots: Map<string, SnapshotSource>,
  complain: (name: string, message: string) => void,
): VolumeShape | undefined {
  const snapshot = snapshots.get((wish.snapshot_id ?? '').toLowerCase());
  if (!snapshot) {
    complain('snapshot_id', `No snapshot ${wish.snapshot_id} in this project and region.`);
    return undefined;
  }
  if (!snapshot.usable)
    complain('snapshot_id', `Snapshot ${snapshot.id} is not available; wait until it is.`);
  if (wish.size !== undefined && wish.size !== snapshot.sizeGib) {
    complain('size', `Must equal the snapshot's size of ${snapshot.sizeGib} GiB; leave it out to use that.`);
  }
  return {
    ...blank,
    sizeGib: snapshot.sizeGib,
    volumeType: wish.type_name ?? snapshot.volumeType,
    bootable: snapshot.bootable,
    imageMetadata: snapshot.imageMetadata,
    snapshotId: snapshot.id,
  };
}
