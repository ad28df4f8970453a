import { Type } from 'typebox';
import { attempt, InvalidError } from './errors.ts';
import { LEGACY } from './legacy.ts';

/** Reads texts from a query parameter that is a JSON object or array; undefined for anything else. */

export const MAX_QUERY_JSON = 8_192;

export function textObject(json: string): Record<string, string> | undefined {
  const value = parsed(json);
  const sound =
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(value).flat().every(isText);
  return sound ? (value as Record<string, string>) : undefined;
}

export function textArray(json: string): string[] | undefined {
  const value = parsed(json);
  return Array.isArray(value) && value.every(isText) ? value : undefined;
}

function parsed(json: string): unknown {
  return attempt(() => JSON.parse(json));
}

/** A text that the database can hold. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}

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
