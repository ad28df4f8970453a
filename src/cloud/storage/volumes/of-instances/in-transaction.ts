import type { Transaction } from '../../../../db/database.ts';
import { ConflictError, type FieldProblem, InvalidError } from '../../../../lib/errors.ts';
import { newId, refuseHeld } from '../../../../lib/ids.ts';
import { tagsOf } from '../../../../lib/legacy-metadata.ts';
import type { Scope } from '../../../../platform.ts';
import type { Catalog, VolumeTypeName } from '../../../ground/catalog/service.ts';
import { refuseForeign, usedBy } from '../../../ground/tasks/service.ts';
import { findSources } from '../../image-sources/in-transaction.ts';
import { refuseAttached } from '../attachments/store.ts';
import * as snapshots from '../snapshots/in-transaction.ts';
import { blankShape, type VolumeShape, volumeShapes } from '../sources.ts';
import { insertVolumes, lockVolumes, type NewVolume, type PlainVolume, setStatus } from '../store.ts';
import { bootIndexes } from './boot-order.ts';
import type { InstanceVolumeWish, PlannedVolume } from './store.ts';
import * as rows from './store.ts';

/* The volumes of instances, from creation to removal. */

export { bootOrderProblems } from './boot-order.ts';
export type { InstanceVolumeWish, PlannedVolume } from './store.ts';
export { detach, doomedWith, settle, type VolumeLeft } from './store.ts';

export interface BootDisk {
  instanceId: string;
  name: string;
  sizeGib: number;
  volumeType: VolumeTypeName;
}

/** Plans the volumes of a new instance. @throws InvalidError naming `volumes.<index>...`, ConflictError if in use */
export async function plan(
  tx: Transaction,
  scope: Scope,
  catalog: Pick<Catalog, 'image'>,
  wishes: InstanceVolumeWish[],
): Promise<PlannedVolume[]> {
  const indexed = wishes.map((wish, index) => ({ wish, index }));
  const existing = await existingVolumes(tx, scope, wishes);
  const made = indexed.flatMap(({ wish, index }) => (wish.source === 'existing-volume' ? [] : [{ wish, index }]));
  const { shapes, problems } = await volumeShapes(
    tx,
    scope,
    made.map(({ wish }) => wish),
    { catalog, fieldOf: (position) => `volumes.${made[position]?.index}` },
  );
  if (problems.length > 0) throw new InvalidError(problems);
  const planned = indexed.map(({ wish, index }) => {
    if (wish.source === 'existing-volume') {
      const volume = existing.get(wish.volume_id.toLowerCase());
      if (!volume) throw new TypeError('an existing volume was checked to be there');
      return { wish, ...plannedExisting(volume) };
    }
    const shape = shapes[made.findIndex((one) => one.index === index)];
    if (!shape) throw new TypeError('a shape was checked to be there');
    const tags = tagsOf(wish, `volumes.${index}.`);
    return { wish, ...plannedNew(wish.name, shape, tags) };
  });
  const order = bootIndexes(planned.map(({ wish, bootable }) => ({ asked: wish.boot_index, bootable })));
  return planned.map(({ wish, ...plan }, index) => ({
    ...plan,
    deleteOnTermination: wish.delete_on_termination ?? false,
    attachmentTag: wish.attachment_tag ?? null,
    bootIndex: order[index] ?? null,
  }));
}

/** Inserts the new volumes and attaches all of them, held by the task. Returns the new volumes. */
export async function attach(
  tx: Transaction,
  scope: Scope,
  instance: { id: string; name: string },
  plan: PlannedVolume[],
  taskId: string,
): Promise<NewVolume[]> {
  const list = plan.flatMap(({ id, made }, index) =>
    made === undefined
      ? []
      : [
          {
            id,
            name: made.name ?? `${instance.name.slice(0, 50).trimEnd()}_volume_${index + 1}`,
            shape: made.shape,
            tags: made.tags,
            status: made.shape.imageId === null ? ('creating' as const) : ('downloading' as const),
          },
        ],
  );
  await insertVolumes(tx, scope, list, taskId);
  const existing = plan.filter(({ made }) => made === undefined).map(({ id }) => id);
  await setStatus(tx, existing, 'attaching', taskId);
  await rows.insertAttachments(tx, instance.id, plan);
  return list;
}

/** Inserts the boot disks of nodes, held by the task. Each disk is deleted with its node. */
export async function attachBootDisks(tx: Transaction, scope: Scope, disks: readonly BootDisk[], taskId: string) {
  const list = disks.map(({ instanceId, name, ...shape }) => ({
    id: newId(),
    instanceId,
    name,
    shape: { ...blankShape, ...shape, bootable: true },
    tags: {},
    status: 'creating' as const,
  }));
  await insertVolumes(tx, scope, list, taskId);
  await rows.insertBootAttachments(tx, list);
}

/** Returns the images from which the instance's disks were created, if they still exist. */
export async function imagesOf(tx: Transaction, scope: Scope, catalog: Pick<Catalog, 'image'>, instanceId: string) {
  const ids = await rows.imageIdsOf(tx, instanceId);
  return [...(await findSources(tx, catalog, scope, ids)).values()];
}

/**
 * Checks the volumes that the deletion of instances names, and locks those that these have; unless they are only looked at.
 * @throws InvalidError for a named one of others, ConflictError if it is being detached, or was attached when the deletion was
 * accepted
 */
export async function checkNamed(
  tx: Transaction,
  scope: Scope,
  instanceIds: readonly string[],
  named: readonly string[],
  { lock }: { lock: boolean },
): Promise<void> {
  const attached = lock ? await rows.lockAttached(tx, instanceIds) : await rows.findAttached(tx, instanceIds);
  const foreign = named.filter((id) => !attached.some((volume) => volume.id === id));
  await refuseForeign(scope, foreign, {
    field: 'volumes',
    message: 'Not attached to the instances to delete',
    what: 'Volume',
    stillThere: (ids) => rows.existing(tx, scope, ids),
  });
  const leaving = attached.find(({ id, status }) => named.includes(id) && status === 'detaching');
  if (leaving) {
    throw new ConflictError(
      `Volume ${leaving.id} is being detached by task ${leaving.task_id}; wait until it ends, then delete the volume by itself`,
    );
  }
}

/**
 * Holds all volumes of the instances for their removal. Returns the volumes that are deleted with them: the given
 * ones, and those with delete_on_termination that have no snapshots.
 * @throws ConflictError
 */
export async function holdForRemoval(
  tx: Transaction,
  instanceIds: readonly string[],
  alsoDelete: readonly string[],
  taskId: string,
): Promise<string[]> {
  const attached = await rows.lockAttached(tx, instanceIds);
  for (const volume of attached) refuseHeld(`Volume ${volume.id}`, volume);
  const kept = await snapshots.lockOf(
    tx,
    attached.map((volume) => volume.id),
  );
  const named = kept.find((snapshot) => alsoDelete.includes(snapshot.volume_id));
  if (named) {
    throw await usedBy(
      tx,
      `Volume ${named.volume_id} can't be deleted because it has snapshot ${named.id}; delete the snapshot first`,
      [[{ kind: 'snapshot', id: named.id }]],
    );
  }
  const goes = attached
    .filter(
      ({ id, delete_on_termination: onTermination }) =>
        alsoDelete.includes(id) || (onTermination && !kept.some((snapshot) => snapshot.volume_id === id)),
    )
    .map(({ id }) => id);
  const stays = attached.map(({ id }) => id).filter((id) => !goes.includes(id));
  await setStatus(tx, goes, 'deleting', taskId);
  await setStatus(tx, stays, 'detaching', taskId);
  return goes;
}

/** @throws InvalidError, ConflictError */
async function existingVolumes(
  tx: Transaction,
  scope: Scope,
  wishes: InstanceVolumeWish[],
): Promise<Map<string, PlainVolume>> {
  const asked = wishes.flatMap((wish, index) =>
    wish.source === 'existing-volume' ? [{ id: wish.volume_id.toLowerCase(), index }] : [],
  );
  const found = await lockVolumes(
    tx,
    scope,
    asked.map(({ id }) => id),
  );
  const volumes = new Map(found.map((volume) => [volume.id, volume]));
  const problems = asked.flatMap(({ id, index }, position): FieldProblem[] => {
    const field = `volumes.${index}.volume_id`;
    if (!volumes.has(id)) return [{ field, message: `No volume ${id} in this project and region.` }];
    if (asked.findIndex((one) => one.id === id) < position) {
      return [{ field, message: `Volume ${id} is listed twice.` }];
    }
    return [];
  });
  if (problems.length > 0) throw new InvalidError(problems);
  const taken = found.find((volume) => volume.task_id !== null || volume.status !== 'available');
  if (taken) {
    if (taken.task_id === null) await refuseAttached(tx, taken);
    const why = taken.task_id === null ? `is ${taken.status}` : `is held by task ${taken.task_id}`;
    throw new ConflictError(`Volume ${taken.id} ${why}; it must be available to be attached`);
  }
  return volumes;
}

function plannedExisting(volume: PlainVolume) {
  return { id: volume.id, made: undefined, image: undefined, bootable: volume.bootable };
}

function plannedNew(name: string | undefined, shape: VolumeShape, tags: Record<string, string>) {
  const id = newId();
  const { bootable, image } = shape;
  return {
    id,
    made: { name, shape, tags },
    image,
    bootable,
  };
}
