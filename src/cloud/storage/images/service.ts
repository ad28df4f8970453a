import { change as changeWant, make, remove } from '../../../convergence/wants.ts';
import { newResource, type Transaction } from '../../../db/database.ts';
import { ForbiddenError, InvalidError } from '../../../lib/errors.ts';
import { fileUrlProblem, shownUrl } from '../../../lib/file-url.ts';
import { foundById, isUuid, LOOKED_AT, newId, newTaskId, refuseHeld, someOf } from '../../../lib/ids.ts';
import { tagsOf } from '../../../lib/legacy-metadata.ts';
import { patchedTags, tagFilter } from '../../../lib/tags.ts';
import type { Platform, Scope } from '../../../platform.ts';
import type { Image } from '../../ground/catalog/service.ts';
import type { TagHolder } from '../../ground/metadata/service.ts';
import { quotaOwner, takeQuota } from '../../ground/quotas/service.ts';
import { waitingDeletion } from '../../ground/tasks/behind/service.ts';
import * as tasks from '../../ground/tasks/service.ts';
import { holdForUpload } from '../volumes/service.ts';
import * as schema from './schema.ts';
import * as store from './store.ts';
import { CREATE_IMAGE, DELETE_IMAGE, DOWNLOAD_IMAGE, type ImageOrigin, imageSpec } from './tasks.ts';

/** Returns the platform's images that match a list query. They are public, belong to no project and have no tags. */
export function matchingImages(images: readonly Image[], query: schema.ImageListQuery): readonly Image[] {
  const { tagKeys, tags } = tagFilter(query);
  const onlyOthers =
    query.private !== undefined ||
    (query.visibility !== undefined && query.visibility !== 'public') ||
    tagKeys.length > 0 ||
    Object.keys(tags).length > 0;
  if (onlyOthers) return [];
  const part = query.name?.toLowerCase();
  return images.filter(
    (image) =>
      (part === undefined || image.name.toLowerCase().includes(part)) &&
      sameText(query.os_distro, image.os_distro) &&
      sameText(query.os_version, image.os_version) &&
      (query.architecture === undefined || image.architecture === query.architecture),
  );
}

function sameText(wanted: string | undefined, value: string): boolean {
  return wanted === undefined || wanted.toLowerCase() === value.toLowerCase();
}

/** An image of the platform or of the project. */
export type AnyImage = { image: Image } | { row: store.ImageRow };

const GIB = 2 ** 30;

/**
 * Returns the task that creates an image from a volume. The task holds the volume meanwhile.
 * @throws InvalidError, ConflictError, QuotaExceededError
 */
export async function createImage(on: Platform, scope: Scope, request: schema.CreateImage): Promise<string> {
  const tags = tagsOf(request);
  const [id, taskId] = [newId(), newTaskId()];
  const now = on.clock.now();
  return on.database.accept(async (tx) => {
    const volume = await holdForUpload(tx, scope, request.volume_id, taskId);
    const shown = shownIn(request);
    await store.insertImage(tx, {
      ...shown,
      id,
      status: 'saving',
      os_distro: volume.image_metadata?.os_distro ?? null,
      os_version: volume.image_metadata?.os_version ?? null,
      min_disk_gib: volume.size_gib,
      size_bytes: null,
      tags: JSON.stringify(tags),
      ...newResource(scope, taskId, now),
    });
    tx.about({ type: 'image', id, name: request.name });
    await tasks.beginTask(on, tx, scope, {
      id: taskId,
      task: CREATE_IMAGE,
      data: request,
      input: { imageId: id, ...quotaOwner(scope), volumeId: volume.id, sizeBytes: volume.size_gib * GIB },
      wants: [make('image', id, imageSpec(shown, { volumeId: volume.id }, tags))],
    });
    takeQuota(tx, scope, 'image_count');
    return taskId;
  });
}

/** Returns the task that downloads an image from an address. @throws InvalidError, QuotaExceededError */
export async function downloadImage(on: Platform, scope: Scope, request: schema.DownloadImage): Promise<string> {
  const tags = tagsOf(request);
  const problem = fileUrlProblem(request.url, schema.EXAMPLE_URL);
  if (problem !== undefined) throw new InvalidError({ url: [problem] });
  const { os_distro = null, os_version = null, cow_format = false } = request;
  const [id, taskId] = [newId(), newTaskId()];
  const [shown, sourceUrl] = [shownIn(request), shownUrl(request.url)];
  return on.database.accept(async (tx) => {
    await store.insertImage(tx, {
      ...shown,
      id,
      status: 'saving',
      os_distro,
      os_version,
      // The smallest volume that there is: nobody has looked into the image.
      min_disk_gib: 1,
      size_bytes: null,
      cow_format,
      tags: JSON.stringify(tags),
      ...newResource(scope, taskId, tx.now),
    });
    tx.about({ type: 'image', id, name: request.name });
    const origin: ImageOrigin = { sourceUrl, ...(cow_format && { copyOnWrite: true }) };
    await tasks.beginTask(on, tx, scope, {
      id: taskId,
      task: DOWNLOAD_IMAGE,
      data: { ...request, url: sourceUrl },
      input: { imageId: id, ...quotaOwner(scope) },
      wants: [make('image', id, imageSpec(shown, origin, tags), { url: request.url })],
    });
    takeQuota(tx, scope, 'image_count');
    return taskId;
  });
}

/** Lists the platform's images in their order, then the project's, newest first. @throws InvalidError */
export async function listImages(
  on: Platform,
  scope: Scope,
  query: schema.ImageListQuery,
): Promise<{ count: number; images: AnyImage[] }> {
  const open = matchingImages(on.catalog.images(scope.regionId), query);
  const { limit = 1000, offset = 0 } = query;
  const page = open.slice(offset, offset + limit);
  if (query.visibility !== undefined && query.visibility !== 'private') {
    return { count: open.length, images: page.map((image) => ({ image })) };
  }
  const own = await store.listImages(on.database.sql, scope, query, {
    limit: limit - page.length,
    offset: Math.max(0, offset - open.length),
  });
  return {
    count: open.length + own.count,
    images: [...page.map((image) => ({ image })), ...own.rows.map((row) => ({ row }))],
  };
}

/** Changes an image at once. @throws NotFoundError, ForbiddenError if the platform's, InvalidError, ConflictError */
export const updateImage = (
  on: Platform,
  scope: Scope,
  id: string,
  { tags, ...change }: schema.UpdateImage,
): Promise<void> =>
  on.database.accept(async (tx) => {
    const image = await lockOwn(on, tx, scope, id);
    const shown = { ...image, ...change, is_baremetal: change.is_baremetal ?? image.is_baremetal };
    await rewrite(on, tx, scope, shown, patchedTags(image.tags, tags));
  });

/**
 * Returns the task that deletes an image. Volumes created from it stay, as each is a copy.
 * @throws NotFoundError, ForbiddenError for the platform's, ConflictError while a task or a new volume needs it
 */
export const deleteImage = (on: Platform, scope: Scope, id: string): Promise<string> =>
  on.database.accept(async (tx) => {
    const known = isUuid(id) ? await store.lockImage(tx, scope, id) : undefined;
    const again = await tasks.removeAgain(on, tx, scope, known?.task_id ?? null, DELETE_IMAGE);
    if (again !== undefined) return again;
    const image = await lockOwn(on, tx, scope, id);
    await refuseNeeded(tx, image);
    const taskId = tasks.deletionId(scope);
    await store.changeImage(tx, image.id, {
      status: 'pending_delete',
      task_id: taskId,
      updated_at: tx.now,
    });
    return tasks.beginTask(on, tx, scope, {
      id: taskId,
      task: DELETE_IMAGE,
      data: { image_id: image.id },
      input: { imageId: image.id, ...quotaOwner(scope) },
      wants: [remove('image', image.id)],
    });
  });

export const imageTags: TagHolder = {
  async read(on, scope, id) {
    const known = await getImage(on, scope, id);
    return 'row' in known ? known.row : { tags: {} };
  },
  async change(on, tx, scope, id, plan) {
    const image = await lockOwn(on, tx, scope, id);
    await rewrite(on, tx, scope, image, plan(image.tags));
  },
};

/** Changes the row at once; the infrastructure follows. */
async function rewrite(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  image: store.ImageRow,
  tags: Record<string, string>,
): Promise<void> {
  const { id, name, os_type, is_baremetal, ssh_key, hw_firmware_type, hw_machine_type } = image;
  const shown = { name, os_type, is_baremetal, ssh_key, hw_firmware_type, hw_machine_type };
  await store.changeImage(tx, id, { ...shown, tags: JSON.stringify(tags), updated_at: tx.now });
  await tasks.wantChecked(on, tx, scope, [
    changeWant('image', id, ({ volumeId, sourceUrl, copyOnWrite }) => {
      const origin: ImageOrigin = {
        ...(volumeId !== undefined && { volumeId }),
        ...(sourceUrl !== undefined && { sourceUrl }),
        ...(copyOnWrite && { copyOnWrite }),
      };
      return imageSpec(image, origin, tags);
    }),
  ]);
}

/** @throws NotFoundError */
export async function getImage(on: Platform, scope: Scope, id: string): Promise<AnyImage> {
  const image = on.catalog.image(scope.regionId, id.toLowerCase());
  if (image) return { image };
  const row = await foundById('Image', id, () => store.findImage(on.database.sql, scope, id));
  return { row };
}

/** @throws NotFoundError, ForbiddenError for the platform's, ConflictError while a task holds it */
async function lockOwn(on: Platform, tx: Transaction, scope: Scope, id: string): Promise<store.ImageRow> {
  if (on.catalog.image(scope.regionId, id.toLowerCase())) {
    throw new ForbiddenError(`Image ${id} belongs to the platform and can't be changed`);
  }
  const image = await foundById('Image', id, () => store.lockImage(tx, scope, id));
  tx.about({ ...image, type: 'image' });
  refuseHeld(`Image ${image.id}`, image);
  return image;
}

function shownIn(request: schema.CreateImage | schema.DownloadImage) {
  return {
    name: request.name,
    os_type: request.os_type ?? 'linux',
    architecture: request.architecture ?? 'x86_64',
    is_baremetal: request.is_baremetal ?? false,
    ssh_key: request.ssh_key ?? 'allow',
    hw_firmware_type: request.hw_firmware_type ?? 'bios',
    hw_machine_type: request.hw_machine_type ?? 'q35',
  } as const;
}

/** @throws ConflictError naming volumes that need the image; its deletion may wait if all of them leave, or until they are ready */
async function refuseNeeded(tx: Transaction, image: store.ImageRow): Promise<void> {
  const needing = await store.volumesFrom(tx, image, LOOKED_AT);
  if (needing.length === 0) return;
  const volumes = needing.map((id) => ({ kind: 'volume' as const, id }));
  if (image.cow_format) {
    const message = `Image ${image.id} shares its data with volumes; delete them first: ${someOf(needing)}`;
    throw await tasks.usedBy(
      tx,
      message,
      volumes.map((one) => [one]),
    );
  }
  throw await tasks.neededBy(
    tx,
    `Image ${image.id} is being copied to volumes; wait until they are ready: ${someOf(needing)}`,
    volumes,
  );
}

export const imageDeletion = waitingDeletion('delete_image', deleteImage, ['image_id']);
