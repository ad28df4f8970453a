import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { metadataTwice } from '../../../lib/legacy-metadata.ts';
import { commonFields } from '../../../lib/resource-fields.ts';
import { offsetTimestamp } from '../../../lib/time.ts';
import { versioned } from '../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { NO_PRICE_ASKED, type OfferPrice } from '../../ground/catalog/schema.ts';
import type { Image } from '../../ground/catalog/service.ts';
import { tagRoutes } from '../../ground/metadata/routes.ts';
import { type OfferPrices, offerPrices } from '../../ground/prices/service.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import * as schema from './schema.ts';
import * as service from './service.ts';
import type { ImageRow } from './store.ts';

export function presentedPublicImage(
  image: Image,
  scope: Pick<Scope, 'projectId' | 'region'>,
  price: OfferPrice,
): schema.ImageAnswer {
  const { regions: _, ...shown } = image;
  return {
    status: 'active',
    ...shown,
    visibility: 'public',
    ...price,
    tags_v2: [],
    ...metadataTwice({}),
    project_id: scope.projectId,
    region: scope.region.display_name,
    region_id: scope.region.id,
    creator_task_id: null,
    task_id: null,
    updated_at: image.created_at,
  };
}

export function presentedOwnImage(row: ImageRow, scope: Scope, price: OfferPrice): schema.ImageAnswer {
  const { tags, ...common } = commonFields(row, scope);
  return {
    description: '',
    ...row,
    visibility: 'private',
    os_distro: row.os_distro ?? '',
    os_version: row.os_version ?? '',
    disk_format: 'raw',
    min_disk: row.min_disk_gib,
    min_ram: 0,
    size: row.size_bytes,
    gpu_driver: null,
    gpu_driver_type: null,
    gpu_driver_version: null,
    display_order: null,
    ...price,
    tags_v2: tags,
    ...common,
    ...metadataTwice(row.tags),
    updated_at: offsetTimestamp(row.updated_at),
  };
}

const IMAGES = '/cloud/v1/images/:project_id/:region_id';
const IMAGE = `${IMAGES}/:image_id`;
const VERSIONED = versioned('image');
const tags = ['Images'];

export function imageRoutes(app: Api, dialect: Dialect, on: Platform): void {
  tagRoutes(app, on, 'image', service.imageTags);
  function presented(known: service.AnyImage, scope: Scope, prices?: OfferPrices): schema.ImageAnswer {
    const { os_type: osType } = 'row' in known ? known.row : known.image;
    const price = prices?.image(osType) ?? NO_PRICE_ASKED;
    return 'row' in known
      ? presentedOwnImage(known.row, scope, price)
      : presentedPublicImage(known.image, scope, price);
  }

  const api = operations(app, { dialect, tags, params: ProjectRegionParams });

  api.post(IMAGES, 'createImage', 'Create an image from a volume', {
    description:
      'Starts one task. When it is finished, its created_resources has the image in images. The task holds the volume meanwhile. A volume in use is copied in its current state.',
    body: schema.CreateImage,
    task: ({ scope, body }) => service.createImage(on, scope, body),
  });

  api.post('/cloud/v1/downloadimage/:project_id/:region_id', 'downloadImage', 'Create an image from an address', {
    description:
      'Starts one task. When it is finished, its created_resources has the image in images. The simulated infrastructure fetches nothing: there the size stays unknown, and an address where nothing is does as well.',
    body: schema.DownloadImage,
    task: ({ scope, body }) => service.downloadImage(on, scope, body),
  });

  api.get(IMAGES, 'listImages', 'List images', {
    description: 'Images of the platform in their own order, then images of the project, newest first.',
    query: schema.ImageListQuery,
    answer: schema.ImageList,
    handler: async ({ scope, query }) => {
      const { count, images: page } = await service.listImages(on, scope, query);
      const prices = await offerPrices(on, scope, query.include_prices);
      return { count, results: page.map((known) => presented(known, scope, prices)) };
    },
  });

  api.get('/cloud/v1/projectimages/:project_id/:region_id', 'listProjectImages', 'List images of the project', {
    description: 'The latest 1000, newest first.',
    query: schema.ImageQuery,
    answer: schema.ImageList,
    handler: async ({ scope, query }) => {
      const { count, images: own } = await service.listImages(on, scope, { visibility: 'private' });
      const prices = await offerPrices(on, scope, query.include_prices);
      return { count, results: own.map((known) => presented(known, scope, prices)) };
    },
  });

  api.get(IMAGE, 'getImage', 'Get an image', {
    versioned: VERSIONED,
    params: schema.ImageParams,
    query: schema.ImageQuery,
    answer: schema.ImageAnswer,
    handler: async ({ scope, params, query }) => {
      const image = await service.getImage(on, scope, params.image_id);
      return presented(image, scope, await offerPrices(on, scope, query.include_prices));
    },
  });

  api.patch(IMAGE, 'updateImage', 'Update an image', {
    description: 'Takes effect immediately. Returns 403 for images of the platform.',
    params: schema.ImageParams,
    body: schema.UpdateImage,
    answer: schema.ImageAnswer,
    handler: async ({ scope, params, body }) => {
      const { image_id: id } = params;
      await service.updateImage(on, scope, id, body);
      return presented(await service.getImage(on, scope, id), scope);
    },
  });

  api.delete(IMAGE, 'deleteImage', 'Delete an image', {
    description:
      'Volumes created from it are copies and stay. Returns 409 while volumes are created from it, and 403 for images of the platform.',
    params: schema.ImageParams,
    task: ({ scope, params }) => deleteOrWait(on, scope, service.imageDeletion, params.image_id),
  });
}
