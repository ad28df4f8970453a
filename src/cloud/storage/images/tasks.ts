import type { ImageSpec } from '../../../backends/contract/specs.ts';
import { type TaskEnd, taskType } from '../../../convergence/task-kind.ts';
import type { Transaction } from '../../../db/database.ts';
import { type QuotaOwner, releaseQuota } from '../../ground/quotas/service.ts';
import { settleVolume } from '../volumes/service.ts';
import { changeImage, deleteImage, type ImageRow } from './store.ts';

export interface ImageInput extends QuotaOwner {
  imageId: string;
  volumeId: string;
  sizeBytes: number;
}

export type ImageDownload = Pick<ImageInput, 'imageId' | 'clientId' | 'regionId'>;
export type ImageRemoval = ImageDownload;

export const CREATE_IMAGE = taskType<ImageInput>('create_image', 30);
/** Images have many gigabytes, and their servers may be slow. */
export const DOWNLOAD_IMAGE = taskType<ImageDownload>('download_image', 60);
export const DELETE_IMAGE = taskType<ImageRemoval>('delete_image', 30);

export function imageTasks(): TaskEnd[] {
  async function drop(tx: Transaction, { imageId, ...owner }: ImageRemoval): Promise<void> {
    if (await deleteImage(tx, imageId)) releaseQuota(tx, owner, 'image_count');
  }
  const free = { status: 'active', task_id: null } as const;

  const create: TaskEnd<ImageInput> = {
    ...CREATE_IMAGE,
    async complete(tx, _task, { imageId, volumeId, sizeBytes }) {
      await changeImage(tx, imageId, { ...free, size_bytes: sizeBytes, updated_at: tx.now });
      await settleVolume(tx, volumeId);
      return { images: [imageId] };
    },
    async abandon(tx, _task, { volumeId, imageId, clientId, regionId }) {
      await drop(tx, { imageId, clientId, regionId });
      await settleVolume(tx, volumeId);
    },
  };

  const download: TaskEnd<ImageDownload> = {
    ...DOWNLOAD_IMAGE,
    async complete(tx, _task, { imageId }, seen) {
      const { sizeBytes = null } = seen('image', imageId);
      await changeImage(tx, imageId, { ...free, size_bytes: sizeBytes, updated_at: tx.now });
      return { images: [imageId] };
    },
    abandon: (tx, _task, input) => drop(tx, input),
  };

  const remove: TaskEnd<ImageRemoval> = {
    ...DELETE_IMAGE,
    removes: true,
    complete: (tx, _task, removal) => drop(tx, removal),
  };

  return [create, download, remove];
}

type Shown = Pick<
  ImageRow,
  'name' | 'os_type' | 'architecture' | 'ssh_key' | 'is_baremetal' | 'hw_firmware_type' | 'hw_machine_type'
>;

/** What an image is made of, once and for all. */
export type ImageOrigin = Pick<ImageSpec, 'volumeId' | 'sourceUrl' | 'copyOnWrite'>;

export function imageSpec(image: Shown, origin: ImageOrigin, metadata: Record<string, string>): ImageSpec {
  return {
    name: image.name,
    ...origin,
    osType: image.os_type,
    architecture: image.architecture,
    properties: {
      ssh_key: image.ssh_key,
      is_baremetal: String(image.is_baremetal),
      hw_firmware_type: image.hw_firmware_type,
      hw_machine_type: image.hw_machine_type,
    },
    metadata,
  };
}
