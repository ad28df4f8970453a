import { Type } from 'typebox';
import { TagsInput } from '../../../../lib/tags-input.ts';

/** Tags of a snapshot as the library under the older Terraform provider sends them: always all of them. */
export const LegacyTags = Type.Unsafe<Record<string, string | null>>({
  ...TagsInput,
  additionalProperties: { type: ['string', 'null'] },
  description: 'Keys and values; keys with null are ignored',
});

export function withoutNulls(tags: Record<string, string | null>): Record<string, string> {
  const set = Object.entries(tags).filter((entry): entry is [string, string] => entry[1] !== null);
  return Object.fromEntries(set);
}
