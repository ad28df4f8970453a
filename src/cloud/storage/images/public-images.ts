import { tagFilter } from '../../../lib/tag-query.ts';
import type { Image } from '../../ground/catalog/service.ts';
import type { ImageListQuery } from './schema.ts';

/** Returns the platform's images that match a list query. They are public, belong to no project and have no tags. */
export function matchingImages(images: readonly Image[], query: ImageListQuery): readonly Image[] {
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
