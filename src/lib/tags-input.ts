import { Type } from 'typebox';
import { InvalidError } from './errors.ts';
import { canonicalTags, MAX_TAGS } from './tags.ts';

// Not Type.Record, whose pattern would let keys with line breaks through unchecked.
export const TagsInput = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
  maxProperties: MAX_TAGS,
  description:
    'Keys of 1 to 255 characters without white space and "=", values of 1 to 255 characters without tabs and line breaks. White space around both is removed.',
  examples: [{ env: 'production' }],
});

/** Returns tags without surrounding white space. @throws InvalidError naming the tag below `field` */
export function acceptedTags(
  given: Record<string, string> | undefined,
  field = 'tags',
): Record<string, string> {
  const { tags, problems } = canonicalTags(given ?? {}, field);
  if (problems.length > 0) throw new InvalidError(problems);
  return tags;
}
