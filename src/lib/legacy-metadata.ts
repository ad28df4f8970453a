import { type Static, Type } from 'typebox';
import { InvalidError } from './errors.ts';
import { LEGACY } from './legacy.ts';
import { TagAnswer } from './resource-fields.ts';
import { acceptedTags, presentedTags, sameTags, TagsInput } from './tags.ts';

/** Tags as `metadata`, which is what the library of the older Terraform provider calls them. */

/** The tags of a new resource, which that library sends as `metadata`. `tagsOf` reads both. */
export const newTags = {
  tags: Type.Optional(TagsInput),
  metadata: Type.Optional(
    Type.Unsafe<Record<string, string>>({ ...TagsInput, ...LEGACY, description: 'Same as `tags`' }),
  ),
};

/**
 * Returns the tags that a body gives by either name, as they are stored.
 * @throws InvalidError naming the tag below the name
 */
export function tagsOf(body: { tags?: Record<string, string>; metadata?: Record<string, string> }, parent = '') {
  const { tags, metadata } = body;
  const [named, legacy] = [`${parent}tags`, `${parent}metadata`];
  if (metadata === undefined) return acceptedTags(tags, named);
  const accepted = acceptedTags(metadata, legacy);
  if (tags === undefined || sameTags(acceptedTags(tags, named), accepted)) return accepted;
  throw new InvalidError({
    [legacy]: [`Differs from ${named}, the newer name of this field; send only one of them.`],
  });
}

/** In answers of networks, subnets, security groups and floating IPs. */
export const MetadataList = {
  metadata: Type.Array(TagAnswer, { ...LEGACY, description: 'Same as the tags' }),
};

/** In answers of snapshots. */
export const MetadataMap = {
  metadata: Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    ...LEGACY,
    description: 'The tags as an object',
  }),
};

/** In answers of instances, volumes and images. */
export const MetadataTwice = {
  ...MetadataMap,
  metadata_detailed: Type.Array(TagAnswer, { ...LEGACY, description: 'Same as the tags' }),
};

export function metadataTwice(tags: Record<string, string>): {
  metadata: Record<string, string>;
  metadata_detailed: Static<typeof TagAnswer>[];
} {
  return { metadata: tags, metadata_detailed: presentedTags(tags) };
}
