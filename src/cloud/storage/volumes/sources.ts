import type { Transaction } from '../../../db/database.ts';
import { ConflictError, type FieldProblem } from '../../../lib/errors.ts';
import type { Scope } from '../../../platform.ts';
import type { Catalog, VolumeTypeName } from '../../ground/catalog/service.ts';
import { findSources, type ImageSource } from '../image-sources/in-transaction.ts';
import { find as findSnapshots, type SnapshotSource } from './snapshots/in-transaction.ts';

/** A volume that a request asks for, when it creates volumes or instances. */
export interface VolumeWish {
  source: 'image' | 'new-volume' | 'snapshot';
  size?: number | undefined;
  type_name?: VolumeTypeName | undefined;
  image_id?: string | undefined;
  snapshot_id?: string | undefined;
}

/** Properties of a new volume that follow from its source. */
export interface VolumeShape {
  sizeGib: number;
  volumeType: VolumeTypeName;
  bootable: boolean;
  imageMetadata: Record<string, string> | null;
  image: ImageSource | undefined;
  imageId: string | null;
  snapshotId: string | null;
}

/**
 * Returns sizes and types of the wanted volumes. `fieldOf(i)` is the field of the i-th volume in the request. A volume
 * with problems is undefined in `shapes`.
 * @throws ConflictError when there are no problems, but a source can't be copied now
 */
export async function volumeShapes(
  tx: Transaction,
  scope: Scope,
  wishes: readonly VolumeWish[],
  { catalog, fieldOf }: { catalog: Pick<Catalog, 'image'>; fieldOf(index: number): string },
): Promise<{ shapes: (VolumeShape | undefined)[]; problems: FieldProblem[] }> {
  const snapshots = await findSnapshots(
    tx,
    scope,
    wishes.flatMap((wish) => wish.snapshot_id ?? []),
  );
  const images = await findSources(
    tx,
    catalog,
    scope,
    wishes.flatMap((wish) => wish.image_id ?? []),
  );
  const problems: FieldProblem[] = [];
  const shapes = wishes.map((wish, index) => {
    const found: FieldProblem[] = [];
    const field = fieldOf(index);
    const complain = (name: string, message: string) =>
      void found.push({ field: field === '' ? name : `${field}.${name}`, message });
    const shape = shapeOf(wish, images, snapshots, complain);
    const offered = scope.region.available_volume_types;
    if (shape && offered && !offered.includes(shape.volumeType)) {
      complain(
        'type_name',
        `This region doesn't offer volumes of type ${shape.volumeType}; it offers ${offered.join(', ')}.`,
      );
    }
    problems.push(...found);
    return found.length === 0 ? shape : undefined;
  });
  if (problems.length === 0) requireFree([...snapshots.values(), ...images.values()]);
  return { shapes, problems };
}

function requireFree(sources: (SnapshotSource | ImageSource)[]): void {
  const blocked = sources.find(({ blocker }) => blocker !== undefined);
  if (!blocked) return;
  const kind = 'sizeGib' in blocked ? 'Snapshot' : 'Image';
  throw new ConflictError(
    `${kind} ${blocked.id} can't be copied because of ${blocked.blocker}; wait until it is available`,
  );
}

function shapeOf(
  wish: VolumeWish,
  images: Map<string, ImageSource>,
  snapshots: Map<string, SnapshotSource>,
  complain: (name: string, message: string) => void,
): VolumeShape | undefined {
  if (wish.source === 'snapshot') return fromSnapshot(wish, snapshots, complain);
  const volumeType = wish.type_name ?? 'standard';
  if (wish.source === 'new-volume') {
    return { ...blankShape, sizeGib: wish.size ?? 1, volumeType };
  }
  const image = images.get((wish.image_id ?? '').toLowerCase());
  if (!image) {
    complain('image_id', `No image ${wish.image_id} in this project and region.`);
    return undefined;
  }
  const smallest = Math.max(image.min_disk, 1);
  if (wish.size !== undefined && wish.size < smallest) {
    complain('size', `Image ${image.name} requires at least ${smallest} GiB.`);
  }
  return {
    ...blankShape,
    sizeGib: wish.size ?? smallest,
    volumeType,
    bootable: true,
    image,
    imageId: image.id,
    imageMetadata: {
      image_id: image.id,
      image_name: image.name,
      os_type: image.os_type,
      ...(image.os_distro !== null && { os_distro: image.os_distro }),
      ...(image.os_version !== null && { os_version: image.os_version }),
      architecture: image.architecture,
    },
  };
}

/** Shape of a volume that has no source. */
export const blankShape = {
  bootable: false,
  imageMetadata: null,
  image: undefined,
  imageId: null,
  snapshotId: null,
};

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
  if (wish.size !== undefined && wish.size !== snapshot.sizeGib) {
    complain('size', `Must equal the snapshot's size of ${snapshot.sizeGib} GiB; leave it out to use that size.`);
  }
  return {
    ...blankShape,
    sizeGib: snapshot.sizeGib,
    volumeType: wish.type_name ?? snapshot.volumeType,
    bootable: snapshot.bootable,
    imageMetadata: snapshot.imageMetadata,
    snapshotId: snapshot.id,
  };
}
