import { Type } from 'typebox';
import { InvalidError } from './errors.ts';
import { MAX_QUERY_JSON, textObject } from './json-texts.ts';
import { type LegacyTagQuery, legacyTagQuery, metadataKeys, metadataPairs } from './legacy-tag-query.ts';

/** Tag filters of cloud lists. */
export const tagQuery = {
  tag_key: Type.Optional(
    Type.Array(Type.String({ maxLength: 255 }), {
      maxItems: 64,
      description: 'Repeat the parameter for several keys; all of them must be present',
    }),
  ),
  tag_key_value: Type.Optional(
    Type.String({
      maxLength: MAX_QUERY_JSON,
      description: 'A JSON object of keys and values; all must match',
      examples: ['{"env":"production"}'],
    }),
  ),
  ...legacyTagQuery,
};

export interface TagQuery extends LegacyTagQuery {
  tag_key?: string[];
  tag_key_value?: string;
}

export interface TagFilter {
  tagKeys: string[];
  tags: Record<string, string>;
}

/** @throws InvalidError if the pairs are not a JSON object of texts */
export function tagFilter(query: TagQuery): TagFilter {
  const tags = query.tag_key_value === undefined ? {} : pairs(query.tag_key_value);
  return {
    tagKeys: [...(query.tag_key ?? []), ...metadataKeys(query)],
    tags: { ...tags, ...metadataPairs(query, tags) },
  };
}

function pairs(text: string): Record<string, string> {
  const tags = textObject(text);
  if (tags) return tags;
  throw new InvalidError({
    tag_key_value: ['Must be a JSON object whose values are strings, such as {"env":"production"}.'],
  });
}
