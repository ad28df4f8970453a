import { Type } from 'typebox';
import { TagAnswer } from '../../../lib/resource-fields.ts';
import { listOf, ProjectRegion, Query } from '../../../lib/wire.ts';

const key = Type.String({ minLength: 1, maxLength: 255, description: 'Key of the tag', examples: ['env'] });

export const KeyQuery = Query({ key });
export const TagList = listOf(TagAnswer, 'ResourceTagList');

/** Each kind of resource has another name for its ID. */
export type ResourcePath = { project_id: number; region_id: number } & Record<string, string | number>;

export function resourceParams(parameter: string) {
  const ids = { ...ProjectRegion, [parameter]: Type.String({ description: 'ID of the resource' }) };
  return {
    resource: Type.Unsafe<ResourcePath>(Type.Object(ids)),
    tag: Type.Unsafe<ResourcePath & { key: string }>(Type.Object({ ...ids, key })),
  };
}
