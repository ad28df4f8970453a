import { Type } from 'typebox';
import { InvalidError } from './errors.ts';
import { MAX_QUERY_JSON, textArray, textObject } from './json-texts.ts';
import { LEGACY } from './legacy.ts';

/** Tag filters by the names that the library of the older Terraform provider uses. */
export const legacyTagQuery = {
  metadata_k: Type.Optional(
    Type.Array(Type.String({ maxLength: MAX_QUERY_JSON }), {
      maxItems: 4,
      ...LEGACY,
      description: 'Same as `tag_key`; a value may also be a JSON array of keys',
    }),
  ),
  metadata_kv: Type.Optional(
    Type.String({
      maxLength: MAX_QUERY_JSON,
      ...LEGACY,
      description: "Same as `tag_key_value`; may also be written with single quotes: `{'env':'production'}`",
    }),
  ),
};

export interface LegacyTagQuery {
  metadata_k?: string[];
  metadata_kv?: string;
}

export function metadataKeys({ metadata_k: keys = [] }: LegacyTagQuery): string[] {
  return keys.flatMap((key) => (key.startsWith('[') ? (textArray(key) ?? [key]) : [key]));
}

/** @throws InvalidError if the filter is not an object of texts, or contradicts `pairs` */
export function metadataPairs(
  { metadata_kv: text }: LegacyTagQuery,
  pairs: Record<string, string>,
): Record<string, string> {
  if (text === undefined) return {};
  const metadata = textObject(text) ?? singleQuoted(text);
  if (!metadata) {
    throw new InvalidError({
      metadata_kv: ['Must be a JSON object whose values are strings, such as {"env":"production"}.'],
    });
  }
  const other = Object.keys(metadata).find(
    (key) => Object.hasOwn(pairs, key) && pairs[key] !== metadata[key],
  );
  if (other === undefined) return metadata;
  throw new InvalidError({
    metadata_kv: [
      `Asks for another value of "${other}" than tag_key_value, the newer name of this parameter.`,
    ],
  });
}

/** Parses a map as query builders in the style of gophercloud write it: nothing is escaped. */
function singleQuoted(text: string): Record<string, string> | undefined {
  if (!text.startsWith("{'") || !text.endsWith("'}")) return undefined;
  const entries = text
    .slice(2, -2)
    .split("', '")
    .map((pair) => pair.split("':'"));
  return entries.every((pair) => pair.length === 2) ? Object.fromEntries(entries) : undefined;
}
