import { type TUnsafe, Type } from 'typebox';
import { InvalidError } from './errors.ts';
import { canonicalTags, MAX_TAGS } from './tags.ts';

export type TagsPatch = Record<string, string | null> | null;

/** Tags of an update: named tags change, null removes a tag, all others stay (RFC 7396). */
export const TagsPatchInput: TUnsafe<TagsPatch> = Type.Unsafe<TagsPatch>({
  type: ['object', 'null'],
  additionalProperties: { type: ['string', 'null'] },
  maxProperties: 2 * MAX_TAGS,
  description:
    'A value sets the tag, null removes it, tags that are not named stay. Null instead of the object removes all of them.',
  examples: [{ env: 'staging', owner: null }],
});

/**
 * Returns the tags after the patch; the same object if there is no patch.
 * @throws InvalidError naming the tag below `field`
 */
export function patchedTags(
  current: Record<string, string>,
  patch: TagsPatch | undefined,
  field = 'tags',
): Record<string, string> {
  if (patch === undefined) return current;
  if (patch === null) return {};
  const entries = Object.entries(patch);
  const set = entries.filter((entry): entry is [string, string] => entry[1] !== null);
  const { tags, problems } = canonicalTags(Object.fromEntries(set), field);
  const removed = new Set(entries.flatMap(([key, value]) => (value === null ? [key.trim()] : [])));
  for (const key of removed) {
    if (!Object.hasOwn(tags, key)) continue;
    problems.push({
      field: field === '' ? key : `${field}.${key}`,
      message: 'Is both set and removed; send it once.',
    });
  }
  if (problems.length > 0) throw new InvalidError(problems);
  const kept = Object.entries(current).filter(([key]) => !removed.has(key));
  const merged = Object.fromEntries([...kept, ...Object.entries(tags)]);
  return withinLimit(merged, field);
}

/** @throws InvalidError if there are more tags than a resource may have */
function withinLimit(tags: Record<string, string>, field: string): Record<string, string> {
  const count = Object.keys(tags).length;
  if (count <= MAX_TAGS) return tags;
  throw new InvalidError({
    [field || 'tags']: [
      `At most ${MAX_TAGS} tags are allowed, and there would be ${count}; remove some first.`,
    ],
  });
}
