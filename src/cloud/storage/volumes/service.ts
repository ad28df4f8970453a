import { make, remove } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import { ConflictError, InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { foundById, isUuid, newId, newTaskId, refuseHeld } from '../../../lib/ids.ts';
import { tagsOf } from '../../../lib/legacy-metadata.ts';
import type { Page } from '../../../lib/page.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { lockHost } from '../../ground/hosts/in-transaction.ts';
import { quotaOwner, takeQuota } from '../../ground/quotas/service.ts';
import { waitingDeletion } from '../../ground/tasks/behind/service.ts';
import { beginTask, deletionId, removeAgain, usedBy } from '../../ground/tasks/service.ts';
import * as attachmentsStore from './attachments/store.ts';
import { joinPolicies } from './schedules/in-transaction.ts';
import type { CreateVolume, VolumeListQuery } from './schema.ts';
import * as snapshots from './snapshots/in-transaction.ts';
import { volumeShapes } from './sources.ts';
import * as store from './store.ts';
import { lockVolumes, type PlainVolume, setStatus } from './store.ts';
import { CREATE_VOLUME, DELETE_VOLUME, onMachine, volumeSpec } from './tasks.ts';

/** Starts the task that creates a volume. Returns the task's ID. @throws InvalidError, QuotaExceededError */
export async function createVolume(on: Platform, scope: Scope, request: CreateVolume): Promise<string> {
  const tags = tagsOf(request);
  requireSound(request);
  const [id, taskId] = [newId(), newTaskId()];
  return on.database.accept(async (tx) => {
    const host = await hostOf(tx, scope, request);
    const { shapes, problems } = await volumeShapes(tx, scope, [request], {
      catalog: on.catalog,
      fieldOf: () => '',
    });
    const [shape] = shapes;
    if (!shape) throw new InvalidError(problems);
    const status = shape.imageId === null ? 'creating' : 'downloading';
    await store.insertVolumes(tx, scope, [{ id, name: request.name, shape, tags, status }], taskId);
    tx.about({ type: 'volume', id, name: request.name });
    await joinPolicies(tx, scope, request.lifecycle_policy_ids ?? [], { id, type: shape.volumeType });
    const device = host && (await attachmentsStore.freeDevice(tx, host));
    const tag = request.attachment_tag;
    if (host && device) {
      const attachment = { volumeId: id, instanceId: host.id, device };
      await attachmentsStore.insertAttachment(tx, { ...attachment, tag: tag ?? null });
    }
    await beginTask(on, tx, scope, {
      id: taskId,
      task: CREATE_VOLUME,
      data: request,
      input: { volumeId: id, ...quotaOwner(scope) },
      wants: [
        make('volume', id, volumeSpec(request.name, shape, tags)),
        ...(host && device ? [onMachine(host.id, id, { device, tag })] : []),
      ],
    });
    takeQuota(tx, scope, 'volume_count');
    return taskId;
  });
}

export const listVolumes = (on: Platform, scope: Scope, query: VolumeListQuery): Promise<Page<store.VolumeRow>> =>
  store.listVolumes(on.database.sql, scope, query);

/** @throws NotFoundError */
export const getVolume = (on: Platform, scope: Scope, id: string): Promise<store.VolumeRow> =>
  foundById('Volume', id, () => store.findVolume(on.database.sql, scope, id));

/**
 * Starts the task that deletes a volume and its snapshots. Returns the task's ID.
 * @throws NotFoundError, InvalidError for snapshots of another volume, ConflictError while it is in use
 */
export async function deleteVolume(on: Platform, scope: Scope, id: string, snapshotIds: string[]): Promise<string> {
  if (!isUuid(id)) throw new NotFoundError('Volume', id);
  const taskId = deletionId(scope);
  return on.database.accept(async (tx) => {
    const [volume] = await store.lockVolumes(tx, scope, [id]);
    if (!volume) throw new NotFoundError('Volume', id);
    tx.about({ ...volume, type: 'volume' });
    const again = await removeAgain(on, tx, scope, volume.task_id, DELETE_VOLUME);
    if (again !== undefined) return again;
    await requireFree(tx, volume);
    const own = await snapshots.lockOf(tx, [volume.id]);
    await requireSnapshots(tx, volume, own, snapshotIds);
    await store.setStatus(tx, [volume.id], 'deleting', taskId);
    const doomed = own.map((one) => one.id);
    await snapshots.refuseCopied(tx, doomed);
    await snapshots.hold(tx, doomed, 'deleting', taskId);
    return beginTask(on, tx, scope, {
      id: taskId,
      task: DELETE_VOLUME,
      data: { volume_id: volume.id, snapshots: doomed },
      input: {
        volumeId: volume.id,
        snapshotIds: doomed,
        ...quotaOwner(scope),
      },
      wants: [remove('volume', volume.id), ...doomed.map((one) => remove('snapshot', one))],
    });
  });
}

/** Returns the instance to which the new volume will be attached. */
async function hostOf(tx: Transaction, scope: Scope, request: CreateVolume) {
  const { instance_id_to_attach_to: id } = request;
  if (id === undefined) return undefined;
  return attachmentsStore.requireReady(await lockHost(tx, scope, id), id, 'instance_id_to_attach_to');
}

/** Refuses what needs no look-up. */
function requireSound(request: CreateVolume): void {
  if (request.attachment_tag !== undefined && request.instance_id_to_attach_to === undefined) {
    throw new InvalidError({
      attachment_tag: ['Is only allowed with instance_id_to_attach_to; leave it out.'],
    });
  }
}

async function requireFree(tx: Transaction, volume: store.PlainVolume): Promise<void> {
  refuseHeld(`Volume ${volume.id}`, volume);
  if (!['available', 'error'].includes(volume.status)) {
    await attachmentsStore.refuseAttached(tx, volume);
    throw new ConflictError(`Volume ${volume.id} is ${volume.status}; it must be available to be deleted`);
  }
}

/**
 * A volume is deleted with all of its snapshots or not at all, and the request has to name each of them. Others may be named:
 * the older Terraform provider names the one that the volume was made of.
 */
async function requireSnapshots(
  tx: Transaction,
  volume: store.PlainVolume,
  own: { id: string; task_id: string | null }[],
  named: string[],
): Promise<void> {
  const wanted = new Set(named.map((id) => id.toLowerCase()));
  const left = own.filter(({ id }) => !wanted.has(id)).map(({ id }) => id);
  if (left.length > 0) {
    throw await usedBy(
      tx,
      `Volume ${volume.id} has snapshots: ${left.join(', ')}. Delete them first or list them in "snapshots"`,
      left.map((id) => [{ kind: 'snapshot', id }]),
    );
  }
  for (const snapshot of own) refuseHeld(`Snapshot ${snapshot.id}`, snapshot);
}

export const volumeDeletion = waitingDeletion('delete_volume', deleteVolume, ['volume_id'], ['snapshots']);

/** Call this when nothing reads the volume any more. */
export { settleVolume } from './store.ts';

/** Holds the volume for the task that makes an image of it. @throws InvalidError naming `volume_id`, ConflictError */
export async function holdForUpload(tx: Transaction, scope: Scope, id: string, taskId: string): Promise<PlainVolume> {
  const [volume] = await lockVolumes(tx, scope, [id]);
  if (!volume) throw new InvalidError({ volume_id: [`No volume ${id} in this project and region.`] });
  refuseHeld(`Volume ${volume.id}`, volume);
  if (!['available', 'in-use'].includes(volume.status)) {
    throw new ConflictError(
      `Volume ${volume.id} is ${volume.status}; to create an image from it, it must be available or in-use`,
    );
  }
  if (!volume.bootable) {
    const message = `Volume ${volume.id} is not bootable; choose one that was made from an image.`;
    throw new InvalidError({ volume_id: [message] });
  }
  await setStatus(tx, [volume.id], 'uploading', taskId);
  return volume;
}
