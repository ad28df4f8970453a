import { type Static, Type } from 'typebox';
import type { Api } from '../../http/server.ts';
import { NotFoundError } from '../../lib/errors.ts';
import { pageOf } from '../../lib/page.ts';
import { tagFilter, tagQuery } from '../../lib/tag-query.ts';
import { listQuery, ProjectRegion, ProjectRegionParams } from '../../lib/wire.ts';
import { type Projects, scopeOf } from '../projects/service.ts';
import type { Catalog, Image } from './catalog.ts';
import { ImageAnswer, ImageList, presentImage } from './images.ts';

const BASE = '/cloud/v1/images/:project_id/:region_id';
const includePrices = Type.Optional(Type.Boolean({ default: false, description: 'Whether to add prices' }));

const ImageParams = Type.Object({ ...ProjectRegion, image_id: Type.String({ description: 'Image ID' }) });
const ImageQuery = Type.Object({ include_prices: includePrices }, { additionalProperties: false });
const ImageListQuery = Type.Object(
  {
    ...listQuery(),
    name: Type.Optional(
      Type.String({ maxLength: 255, description: 'Part of the name, in capital or small letters' }),
    ),
    os_distro: Type.Optional(Type.String({ maxLength: 255, description: 'Distribution, in any case' })),
    os_version: Type.Optional(Type.String({ maxLength: 255, description: 'Version, in any case' })),
    architecture: Type.Optional(Type.Enum(['aarch64', 'x86_64'], { type: 'string' })),
    visibility: Type.Optional(Type.Enum(['private', 'public', 'shared'], { type: 'string' })),
    private: Type.Optional(
      Type.String({ maxLength: 255, description: 'With any value: only images of the project itself' }),
    ),
    include_prices: includePrices,
    ...tagQuery,
  },
  { additionalProperties: false },
);
type ImageListQuery = Static<typeof ImageListQuery>;

export function imageRoutes(app: Api, { catalog, projects }: { catalog: Catalog; projects: Projects }): void {
  app.get(BASE, {
    config: { access: 'read' },
    schema: {
      operationId: 'listImages',
      summary: 'List images',
      tags: ['Images'],
      params: ProjectRegionParams,
      querystring: ImageListQuery,
      response: { 200: ImageList },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      const { query } = request;
      const options = { includePrices: query.include_prices ?? false };
      return pageOf(listed(catalog.images(scope.region.id), query), query, (image) =>
        presentImage(image, scope, options),
      );
    },
  });

  app.get(`${BASE}/:image_id`, {
    config: { access: 'read' },
    schema: {
      operationId: 'getImage',
      summary: 'Get an image',
      tags: ['Images'],
      params: ImageParams,
      querystring: ImageQuery,
      response: { 200: ImageAnswer },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      const id = request.params.image_id;
      const image = catalog.image(scope.region.id, id.toLowerCase());
      if (!image) throw new NotFoundError('Image', id);
      return presentImage(image, scope, { includePrices: request.query.include_prices ?? false });
    },
  });
}

function listed(images: readonly Image[], query: ImageListQuery): Image[] {
  const { tagKeys, tags } = tagFilter(query);
  // The catalogue's images are the platform's: public, of no project, without tags.
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
