import { type TaskEnd, taskType } from '../../../../convergence/task-kind.ts';
import { change as changeWant, make, remove } from '../../../../convergence/wants.ts';
import { newResource, type Transaction } from '../../../../db/database.ts';
import { ConflictError, InvalidError } from '../../../../lib/errors.ts';
import { foundById, newId, newTaskId, refuseHeld } from '../../../../lib/ids.ts';
import { tagsOf } from '../../../../lib/legacy-metadata.ts';
import type { Page } from '../../../../lib/page.ts';
import { acceptedTags, patchedTags } from '../../../../lib/tags.ts';
import { whyNoSnapshots } from '../../../../lib/volume-types.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { type QuotaOwner, quotaOwner, takeQuota } from '../../../ground/quotas/service.ts';
import { waitingDeletion } from '../../../ground/tasks/behind/service.ts';
import { beginTask, deletionId, removeAgain, wantChecked } from '../../../ground/tasks/service.ts';
import { lockVolumes } from '../store.ts';
import * as rows from './in-transaction.ts';
import * as store from './in-transaction.ts';
import { hold, refuseCopied } from './in-transaction.ts';
import type { CreateSnapshot, SnapshotListQuery, UpdateSnapshot } from './schema.ts';

export interface SnapshotInput extends QuotaOwner {
  snapshotId: string;
}

export const CREATE_SNAPSHOT = taskType<SnapshotInput>('create_snapshot');
export const DELETE_SNAPSHOT = taskType<SnapshotInput>('delete_snapshot');

export function snapshotTasks(): TaskEnd[] {
  const create: TaskEnd<SnapshotInput> = {
    ...CREATE_SNAPSHOT,
    async complete(tx, _task, { snapshotId }) {
      await rows.settle(tx, [snapshotId]);
      return { snapshots: [snapshotId] };
    },
    abandon: (tx, _task, { snapshotId, ...owner }) => rows.drop(tx, [snapshotId], owner),
  };
  const remove: TaskEnd<SnapshotInput> = {
    ...DELETE_SNAPSHOT,
    removes: true,
    complete: (tx, _task, { snapshotId, ...owner }) => rows.drop(tx, [snapshotId], owner),
  };
  return [create, remove];
}

/** Starts the task that takes a snapshot; returns its ID. @throws InvalidError, ConflictError, QuotaExceededError */
export async function createSnapshot(on: Platform, scope: Scope, request: CreateSnapshot): Promise<string> {
  return on.database.accept(async (tx) => (await beginSnapshot(on, tx, scope, request)).taskId);
}

/**
 * Does the same in the caller's transaction. `by` is what the task shows besides the request.
 * @throws InvalidError, ConflictError, QuotaExceededError
 */
export async function beginSnapshot(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  request: CreateSnapshot,
  by: object = {},
): Promise<{ id: string; taskId: string }> {
  const tags = tagsOf(request);
  const [id, taskId] = [newId(), newTaskId()];
  const [volume] = await lockVolumes(tx, scope, [request.volume_id]);
  if (!volume) throw new InvalidError({ volume_id: [`No volume ${request.volume_id} in this project and region.`] });
  const problem = whyNoSnapshots(volume);
  if (problem !== undefined) throw new InvalidError({ volume_id: [problem] });
  refuseHeld(`Volume ${volume.id}`, volume);
  if (!['available', 'in-use'].includes(volume.status)) {
    throw new ConflictError(
      `Volume ${volume.id} is ${volume.status}; it must be available or in-use to take a snapshot of it`,
    );
  }
  await tx.sql
    .insertInto('snapshots')
    .values({
      id,
      name: request.name,
      description: request.description ?? null,
      volume_id: volume.id,
      size_gib: volume.size_gib,
      volume_type: volume.volume_type,
      status: 'creating',
      tags: JSON.stringify(tags),
      ...newResource(scope, taskId, tx.now),
    })
    .execute();
  tx.about({ type: 'snapshot', id, name: request.name });
  await beginTask(on, tx, scope, {
    id: taskId,
    task: CREATE_SNAPSHOT,
    data: { ...request, ...by },
    input: { snapshotId: id, ...quotaOwner(scope) },
    wants: [make('snapshot', id, { name: request.name, volumeId: volume.id, metadata: tags })],
  });
  takeQuota(tx, scope, 'snapshot_count');
  return { id, taskId };
}

export const listSnapshots = (on: Platform, scope: Scope, query: SnapshotListQuery): Promise<Page<store.SnapshotRow>> =>
  store.listSnapshots(on.database.sql, scope, query);

/** @throws NotFoundError */
export const getSnapshot = (on: Platform, scope: Scope, id: string): Promise<store.SnapshotRow> =>
  foundById('Snapshot', id, () => store.findSnapshot(on.database.sql, scope, id));

/** Changes name and tags at once. @throws NotFoundError, InvalidError, ConflictError while a task holds it */
export const updateSnapshot = (on: Platform, scope: Scope, id: string, { name, tags }: UpdateSnapshot): Promise<void> =>
  changed(on, scope, id, (snapshot) => ({
    name: name ?? snapshot.name,
    tags: patchedTags(snapshot.tags, tags),
  }));

/** Replaces all tags. @throws as `updateSnapshot` */
export async function replaceSnapshotTags(on: Platform, scope: Scope, id: string, given: Record<string, string>) {
  const tags = acceptedTags(given, '');
  await changed(on, scope, id, ({ name }) => ({ name, tags }));
}

/** Starts the task that deletes the snapshot. Returns the task's ID. @throws NotFoundError, ConflictError */
export async function deleteSnapshot(on: Platform, scope: Scope, id: string): Promise<string> {
  return on.database.accept((tx) => beginSnapshotDeletion(on, tx, scope, id));
}

/** Does the same in the caller's transaction. @throws NotFoundError, ConflictError */
export async function beginSnapshotDeletion(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  id: string,
  by: object = {},
): Promise<string> {
  const taskId = deletionId(scope);
  const snapshot = await foundById('Snapshot', id, () => store.lockSnapshot(tx.sql, scope, id));
  tx.about({ ...snapshot, type: 'snapshot' });
  const again = await removeAgain(on, tx, scope, snapshot.task_id, DELETE_SNAPSHOT);
  if (again !== undefined) return again;
  refuseHeld(`Snapshot ${id}`, snapshot);
  await refuseCopied(tx, [snapshot.id]);
  await hold(tx, [snapshot.id], 'deleting', taskId);
  return beginTask(on, tx, scope, {
    id: taskId,
    task: DELETE_SNAPSHOT,
    data: { snapshot_id: snapshot.id, ...by },
    input: { snapshotId: snapshot.id, ...quotaOwner(scope) },
    wants: [remove('snapshot', snapshot.id)],
  });
}

async function changed(
  on: Platform,
  scope: Scope,
  id: string,
  plan: (snapshot: store.SnapshotRow) => { name: string; tags: Record<string, string> },
): Promise<void> {
  await on.database.accept(async (tx) => {
    const snapshot = await foundById('Snapshot', id, () => store.lockSnapshot(tx.sql, scope, id));
    tx.about({ ...snapshot, type: 'snapshot' });
    refuseHeld(`Snapshot ${snapshot.id}`, snapshot);
    const { name, tags } = plan(snapshot);
    await tx.sql
      .updateTable('snapshots')
      .set({ name, tags: JSON.stringify(tags), updated_at: tx.now })
      .where('id', '=', snapshot.id)
      .execute();
    await wantChecked(on, tx, scope, [
      changeWant('snapshot', snapshot.id, (spec) => ({ ...spec, name, metadata: tags })),
    ]);
  });
}

export const snapshotDeletion = waitingDeletion('delete_snapshot', deleteSnapshot, ['snapshot_id']);
