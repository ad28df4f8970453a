import type { VolumeSpec } from '../../../../backends/contract/specs.ts';
import type { TaskType } from '../../../../convergence/task-kind.ts';
import { change as changeWant, type Wanted } from '../../../../convergence/wants.ts';
import type { Transaction } from '../../../../db/database.ts';
import { ConflictError, InvalidError, NotFoundError } from '../../../../lib/errors.ts';
import { foundById, isUuid, newTaskId, refuseHeld } from '../../../../lib/ids.ts';
import { patchedTags } from '../../../../lib/tags.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { lockHost, refuseNodeAsHost } from '../../../ground/hosts/in-transaction.ts';
import type { TagHolder } from '../../../ground/metadata/service.ts';
import { beginTask, wantChecked } from '../../../ground/tasks/service.ts';
import * as attachmentsStore from '../attachments/store.ts';
import type { VolumeStatus } from '../schema.ts';
import * as snapshots from '../snapshots/in-transaction.ts';
import * as store from '../store.ts';
import * as tasks from '../tasks.ts';
import type { AttachVolume, DetachVolume, ExtendVolume, RetypeVolume, UpdateVolume } from './schema.ts';

/* Changes to a volume. Each throws NotFoundError, and ConflictError while a task or a cluster's node holds it. */

/** Changes name and tags at once. @throws InvalidError */
export const updateVolume = (on: Platform, scope: Scope, id: string, change: UpdateVolume): Promise<void> =>
  on.database.accept(async (tx) => {
    const volume = await free(tx, scope, id);
    const name = change.name ?? volume.name;
    const tags = patchedTags(volume.tags, change.tags);
    await store.changeVolume(tx, volume.id, { name, tags: JSON.stringify(tags) });
    await wantChecked(on, tx, scope, [to(volume.id, { name, metadata: tags })]);
  });

/** Starts the task that makes the volume larger; an instance may use it meanwhile. @throws InvalidError */
export const extendVolume = (on: Platform, scope: Scope, id: string, { size }: ExtendVolume): Promise<string> =>
  on.database.accept(async (tx) => {
    const volume = await free(tx, scope, id, ['available', 'in-use'], 'extended');
    if (volume.volume_type === 'ssd_lowlatency') {
      throw new ConflictError(`Volume ${volume.id} is of type ssd_lowlatency, which can't be extended`);
    }
    if (size <= volume.size_gib) {
      throw new InvalidError({
        size: [`Must be larger than the current size of ${volume.size_gib} GiB.`],
      });
    }
    return begin(on, tx, scope, 'extending', {
      task: tasks.EXTEND_VOLUME,
      input: { volumeId: volume.id, sizeGib: size },
      shown: { size },
      wants: [to(volume.id, { sizeGib: size })],
    });
  });

/**
 * Starts the task that changes the type.
 * @throws InvalidError for the type that the volume has, or one that the region doesn't offer, ConflictError when the
 * volume has snapshots
 */
export const retypeVolume = (
  on: Platform,
  scope: Scope,
  id: string,
  { volume_type: type }: RetypeVolume,
): Promise<string> =>
  on.database.accept(async (tx) => {
    const volume = await free(tx, scope, id, ['available', 'in-use'], 'retyped');
    // Cinder refuses this, too.
    if (volume.volume_type === type) {
      throw new InvalidError({
        volume_type: [`The volume already has type ${type}; choose another one.`],
      });
    }
    const offered = scope.region.available_volume_types;
    if (offered && !offered.includes(type)) {
      const message = `This region doesn't offer volumes of type ${type}; it offers ${offered.join(', ')}.`;
      throw new InvalidError({ volume_type: [message] });
    }
    const [snapshot] = await snapshots.lockOf(tx, [volume.id]);
    if (snapshot) {
      throw new ConflictError(
        `Volume ${volume.id} has snapshot ${snapshot.id}; delete its snapshots before changing its type`,
      );
    }
    return begin(on, tx, scope, 'retyping', {
      task: tasks.RETYPE_VOLUME,
      input: { volumeId: volume.id, volumeType: type },
      shown: { volume_type: type },
      wants: [to(volume.id, { volumeType: type })],
    });
  });

/** Starts the task that restores the latest snapshot. @throws ConflictError while in use, or without a snapshot */
export const revertVolume = (on: Platform, scope: Scope, id: string): Promise<string> =>
  on.database.accept(async (tx) => {
    const volume = await free(tx, scope, id, ['available'], 'reverted');
    const snapshot = await snapshots.lockLatestOf(tx, volume.id);
    if (!snapshot) throw new ConflictError(`Volume ${volume.id} has no snapshot to revert to`);
    refuseHeld(`Snapshot ${snapshot.id}`, snapshot);
    // Cinder only reverts to a snapshot of the same size.
    if (snapshot.size_gib !== volume.size_gib) {
      throw new ConflictError(
        `Volume ${volume.id} has ${volume.size_gib} GiB, but its last snapshot ${snapshot.id} has ${snapshot.size_gib} GiB; create a new volume from the snapshot instead`,
      );
    }
    const taskId = newTaskId();
    await snapshots.hold(tx, [snapshot.id], 'restoring', taskId);
    const again = changeWant('volume', volume.id, (spec) => ({
      ...spec,
      reverts: { times: (spec.reverts?.times ?? 0) + 1, snapshotId: snapshot.id },
    }));
    return begin(on, tx, scope, 'reverting', {
      id: taskId,
      task: tasks.REVERT_VOLUME,
      input: { volumeId: volume.id, snapshotId: snapshot.id },
      shown: { snapshot_id: snapshot.id },
      wants: [again],
    });
  });

/** Starts the task that attaches the volume. @throws InvalidError for an unknown instance, ConflictError */
export const attachVolume = (on: Platform, scope: Scope, id: string, wish: AttachVolume): Promise<string> =>
  on.database.accept(async (tx) => {
    const known = await lockHost(tx, scope, wish.instance_id);
    const volume = await free(tx, scope, id, ['available'], 'attached');
    const host = attachmentsStore.requireReady(known, wish.instance_id, 'instance_id');
    const device = await attachmentsStore.freeDevice(tx, host);
    const { attachment_tag: tag } = wish;
    await attachmentsStore.insertAttachment(tx, {
      volumeId: volume.id,
      instanceId: host.id,
      device,
      tag: tag ?? null,
    });
    return begin(on, tx, scope, 'attaching', {
      task: tasks.ATTACH_VOLUME,
      input: { volumeId: volume.id },
      shown: { instance_id: host.id, device },
      wants: [tasks.onMachine(host.id, volume.id, { device, tag })],
    });
  });

/** Starts the task that detaches the volume. @throws InvalidError when it isn't attached there, ConflictError */
export const detachVolume = (on: Platform, scope: Scope, id: string, wish: DetachVolume): Promise<string> =>
  on.database.accept(async (tx) => {
    const known = await lockHost(tx, scope, wish.instance_id);
    const volume = await free(tx, scope, id);
    const host = attachmentsStore.requireReady(known, wish.instance_id, 'instance_id');
    const attachment = await attachmentsStore.attachmentOf(tx, volume.id);
    if (attachment?.instance_id !== host.id) {
      throw new InvalidError({
        instance_id: [`Volume ${volume.id} is not attached to instance ${host.id}.`],
      });
    }
    if (attachment.boot_index === 0) {
      throw new ConflictError(`Volume ${volume.id} is the boot volume of instance ${host.id} and can't be detached`);
    }
    return begin(on, tx, scope, 'detaching', {
      task: tasks.DETACH_VOLUME,
      input: { volumeId: volume.id },
      shown: { instance_id: host.id },
      wants: [tasks.offMachine(host.id, volume.id)],
    });
  });

export const volumeTags: TagHolder = {
  read: (on, scope, id) => foundById('Volume', id, () => store.findVolume(on.database.sql, scope, id)),
  async change(on, tx, scope, id, plan) {
    const volume = await free(tx, scope, id);
    const tags = plan(volume.tags);
    await store.changeVolume(tx, volume.id, { tags: JSON.stringify(tags) });
    await wantChecked(on, tx, scope, [to(volume.id, { metadata: tags })]);
  },
};

/** Locks and returns the volume. Refuses it if a task holds it, a node has it or its state isn't one of `states`. */
async function free(
  tx: Transaction,
  scope: Scope,
  id: string,
  states?: readonly VolumeStatus[],
  done = 'changed',
): Promise<store.PlainVolume> {
  const [volume] = isUuid(id) ? await store.lockVolumes(tx, scope, [id]) : [];
  if (!volume) throw new NotFoundError('Volume', id);
  tx.about({ ...volume, type: 'volume' });
  refuseHeld(`Volume ${volume.id}`, volume);
  const attachment = await attachmentsStore.attachmentOf(tx, volume.id);
  if (attachment) await refuseNodeAsHost(tx, attachment.instance_id);
  if (states && !states.includes(volume.status)) {
    await attachmentsStore.refuseAttached(tx, volume);
    throw new ConflictError(`Volume ${volume.id} is ${volume.status}; it must be ${states.join(' or ')} to be ${done}`);
  }
  return volume;
}

/** Holds the volume for a new task and returns the task's ID. */
async function begin(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  status: VolumeStatus,
  { id = newTaskId(), task, input, shown, wants }: Begun,
): Promise<string> {
  await store.setStatus(tx, [input.volumeId], status, id);
  return beginTask(on, tx, scope, {
    id,
    task,
    data: { volume_id: input.volumeId, ...shown },
    input,
    wants,
  });
}

interface Begun {
  id?: string;
  task: TaskType<tasks.VolumeChange>;
  input: tasks.VolumeChange;
  /** Parameters that the task shows. */
  shown: object;
  wants: Wanted[];
}

const to = (id: string, changed: Partial<VolumeSpec>) => changeWant('volume', id, (spec) => ({ ...spec, ...changed }));
