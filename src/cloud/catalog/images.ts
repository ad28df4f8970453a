import { type Static, Type } from 'typebox';
import { nullable } from '../../lib/nullable.ts';
import { listOf, Timestamp } from '../../lib/wire.ts';
import { type Image, imageFields, type Region } from './schema.ts';
import { NO_PRICE_ASKED, NOT_IN_PRICE_BOOK, priceFields } from './wire-fields.ts';

const ImageTag = Type.Object(
  { key: Type.String(), value: Type.String(), read_only: Type.Boolean() },
  { title: 'Tag' },
);

export const ImageAnswer = Type.Object(
  {
    ...imageFields,
    status: Type.String({ description: 'State of the image', examples: ['active'] }),
    visibility: Type.Enum(['private', 'public', 'shared'], {
      type: 'string',
      description: '`public`: offered by the platform',
    }),
    ...priceFields,
    tags_v2: Type.Array(ImageTag, { description: 'Tags of the image' }),
    project_id: Type.Integer({ description: 'Project that the image was asked for in' }),
    region: Type.String({ description: 'Region name' }),
    region_id: Type.Integer({ description: 'Region ID' }),
    creator_task_id: nullable(Type.String({ description: 'Task that made the image' })),
    task_id: nullable(Type.String({ description: 'Task that holds the image, if one does' })),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { title: 'Image', description: 'What a boot volume can be made from.' },
);
export type ImageAnswer = Static<typeof ImageAnswer>;
export const ImageList = listOf(ImageAnswer, 'ImageList');

/** An image of the catalogue, seen from a project and a region. */
export function presentImage(
  image: Image,
  place: { projectId: number; region: Region },
  options: { includePrices: boolean },
): ImageAnswer {
  const { regions: _, ...shown } = image;
  return {
    ...shown,
    status: 'active',
    visibility: 'public',
    ...(options.includePrices ? NOT_IN_PRICE_BOOK : NO_PRICE_ASKED),
    tags_v2: [],
    project_id: place.projectId,
    region: place.region.display_name,
    region_id: place.region.id,
    creator_task_id: null,
    task_id: null,
    updated_at: image.created_at,
  };
}
