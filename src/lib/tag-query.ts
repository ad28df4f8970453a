import { Type } from 'typebox';
import { InvalidError } from './errors.ts';

/** Tag filters of cloud lists (contract 1.3). */
export const tagQuery = {
  tag_key: Type.Optional(
    Type.Array(Type.String({ maxLength: 255 }), {
      maxItems: 64,
      description: 'Repeat it: every key must be present',
    }),
  ),
  tag_key_value: Type.Optional(
    Type.String({
      maxLength: 32_768,
      description: 'A JSON object of keys and values; all must match',
      examples: ['{"env":"production"}'],
    }),
  ),
};

/** @throws InvalidError when `tag_key_value` is no JSON object of texts */
export function tagFilter(query: { tag_key?: string[]; tag_key_value?: string }): {
  tagKeys: string[];
  tags: Record<string, string>;
} {
  return {
    tagKeys: query.tag_key ?? [],
    tags: query.tag_key_value === undefined ? {} : parsedTags(query.tag_key_value),
  };
}

function parsedTags(text: string): Record<string, string> {
  let tags: unknown;
  try {
    tags = JSON.parse(text);
  } catch {
    tags = undefined;
  }
  const sound =
    typeof tags === 'object' &&
    tags !== null &&
    !Array.isArray(tags) &&
    Object.entries(tags)
      .flat()
      .every((part) => typeof part === 'string' && part.isWellFormed() && !part.includes('\0'));
  if (!sound) {
    throw new InvalidError({
      tag_key_value: [
        'Must be a JSON object of keys and values that are texts, such as {"env":"production"}.',
      ],
    });
  }
  return tags as Record<string, string>;
}
