import type { Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { TaskHandler } from '../../workflows/task-handler.ts';
import { provision, unprovision } from '../provisioning/provisioner.ts';
import { releaseQuota } from '../quotas/quotas.ts';
import type { ImageBackend } from './backend.ts';
import { changeImage, deleteImage } from './store.ts';

export const CREATE_IMAGE = 'create_image';
export const DELETE_IMAGE = 'delete_image';
export const DEADLINE_MS = 30 * 60_000;

/** What images need of the volume that they are made from. */
export interface UploadedVolumes {
  /** Nothing reads the volume any more. */
  settle(tx: Transaction, volumeId: string, now: Date): Promise<void>;
}

export interface ImageInput {
  imageId: string;
  volumeId: string;
  sizeBytes: number;
  clientId: number;
  regionId: number;
}

export type ImageRemoval = Pick<ImageInput, 'imageId' | 'clientId' | 'regionId'>;

export function imageHandlers(deps: {
  clock: Clock;
  backend: ImageBackend;
  volumes: UploadedVolumes;
}): TaskHandler[] {
  const { clock, backend, volumes } = deps;

  async function drop(tx: Transaction, { imageId, ...owner }: ImageRemoval): Promise<void> {
    if (await deleteImage(tx, imageId)) await releaseQuota(tx, owner, 'image_count');
  }
  const free = { status: 'active', task_id: null } as const;

  const create: TaskHandler<ImageInput, null> = {
    type: CREATE_IMAGE,
    deadlineMs: DEADLINE_MS,
    async run(run, { imageId: id, volumeId }) {
      await provision(run, backend, { id, volumeId }, { id });
      return null;
    },
    async complete(tx, _task, { imageId, volumeId, sizeBytes }) {
      await changeImage(tx, imageId, { ...free, size_bytes: sizeBytes, updated_at: clock.now() });
      await volumes.settle(tx, volumeId, clock.now());
      return { images: [imageId] };
    },
    async abandon(tx, _task, { volumeId, imageId, clientId, regionId }) {
      await drop(tx, { imageId, clientId, regionId });
      await volumes.settle(tx, volumeId, clock.now());
    },
  };

  const remove: TaskHandler<ImageRemoval, null> = {
    type: DELETE_IMAGE,
    deadlineMs: DEADLINE_MS,
    async run(run, { imageId }) {
      await unprovision(run, backend, { id: imageId });
      return null;
    },
    async complete(tx, _task, removal) {
      await drop(tx, removal);
      return null;
    },
    async abandon(tx, _task, { imageId }) {
      await changeImage(tx, imageId, { ...free, updated_at: clock.now() });
    },
  };

  return [create, remove];
}
