import { type TUnsafe, Type } from 'typebox';
import { attempt, type FieldProblem, InvalidError } from './errors.ts';
import { LEGACY } from './legacy.ts';
import { OptionalList, OptionalText } from './wire.ts';

export const TAG_MAX_LENGTH = 255;
/** Our own limit; nothing published states one. */
export const MAX_TAGS = 64;

const KEY = /^[^\s=]+$/;
// The only white space allowed inside a value is the space (and what Unicode adds to it).
const VALUE = /^[^\t\n\r\f\v]+$/;

/**
 * Returns user tags without white space around keys and values. `tags` contains only valid tags; use it only
 * if `problems` is empty. Problems name the field as `<fieldPrefix>.<key>`, or as `<key>` without a prefix.
 */
export function canonicalTags(
  input: Record<string, string>,
  fieldPrefix: string,
): { tags: Record<string, string>; problems: FieldProblem[] } {
  const entries = Object.entries(input);
  if (entries.length > MAX_TAGS) {
    const message = `At most ${MAX_TAGS} tags are allowed, ${entries.length} were given.`;
    return { tags: {}, problems: [{ field: fieldPrefix, message }] };
  }
  const tags = new Map<string, string>();
  const problems: FieldProblem[] = [];
  for (const [givenKey, givenValue] of entries) {
    const key = givenKey.trim();
    const value = givenValue.trim();
    const message = keyFault(key, tags) ?? valueFault(value);
    const named = givenKey.slice(0, TAG_MAX_LENGTH);
    if (message === undefined) tags.set(key, value);
    else problems.push({ field: fieldPrefix === '' ? named : `${fieldPrefix}.${named}`, message });
  }
  // fromEntries defines own properties, so a key like __proto__ stays a plain tag.
  return { tags: Object.fromEntries(tags), problems };
}

export function sameTags(a: Record<string, string>, b: Record<string, string>): boolean {
  const entries = Object.entries(a);
  return entries.length === Object.keys(b).length && entries.every(([key, value]) => b[key] === value);
}

function keyFault(key: string, taken: ReadonlyMap<string, string>): string | undefined {
  if (key === '') return 'A tag key must not be empty.';
  if (lengthOf(key) > TAG_MAX_LENGTH) return `A tag key may have at most ${TAG_MAX_LENGTH} characters.`;
  if (!KEY.test(key)) return 'A tag key must not contain spaces, tabs, line breaks or "=".';
  if (taken.has(key)) return 'Is the same key as another one once the spaces around it are removed; send it once.';
  return undefined;
}

function valueFault(value: string): string | undefined {
  if (value === '') return 'A tag value must not be empty; leave the tag out instead.';
  if (lengthOf(value) > TAG_MAX_LENGTH) return `A tag value may have at most ${TAG_MAX_LENGTH} characters.`;
  if (!VALUE.test(value)) return 'A tag value must not contain tabs or line breaks; spaces inside are allowed.';
  return undefined;
}

/** Counts characters as JSON Schema does, not UTF-16 units. */
function lengthOf(text: string): number {
  return [...text].length;
}

/** Tags as answers show them. */
export function presentedTags(tags: Record<string, string>): { key: string; value: string; read_only: boolean }[] {
  return Object.entries(tags).map(([key, value]) => ({ key, value, read_only: false }));
}

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
export function acceptedTags(given: Record<string, string> | undefined, field = 'tags'): Record<string, string> {
  const { tags, problems } = canonicalTags(given ?? {}, field);
  if (problems.length > 0) throw new InvalidError(problems);
  return tags;
}

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
export function patchedTags(current: Record<string, string>, patch: TagsPatch | undefined, field = 'tags') {
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
    [field || 'tags']: [`At most ${MAX_TAGS} tags are allowed, and there would be ${count}; remove some first.`],
  });
}

/** Reads texts from a query parameter that is a JSON object or array; undefined for anything else. */

export const MAX_QUERY_JSON = 8_192;

export function textObject(json: string): Record<string, string> | undefined {
  const value = parsed(json);
  const sound =
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.entries(value).flat().every(isText);
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
  metadata_k: OptionalList(Type.String({ maxLength: MAX_QUERY_JSON }), {
    maxItems: 4,
    ...LEGACY,
    description: 'Same as `tag_key`; a value may also be a JSON array of keys',
  }),
  metadata_kv: OptionalText({
    maxLength: MAX_QUERY_JSON,
    ...LEGACY,
    description: "Same as `tag_key_value`; may also be written with single quotes: `{'env':'production'}`",
  }),
};

export interface LegacyTagQuery {
  metadata_k?: string[];
  metadata_kv?: string;
}

export function metadataKeys({ metadata_k: keys = [] }: LegacyTagQuery): string[] {
  return keys.flatMap((key) => (key.startsWith('[') ? (textArray(key) ?? [key]) : [key]));
}

/** @throws InvalidError if the filter is not an object of texts, or contradicts `pairs` */
export function metadataPairs({ metadata_kv: text }: LegacyTagQuery, pairs: Record<string, string>) {
  if (text === undefined) return {};
  const metadata = textObject(text) ?? singleQuoted(text);
  if (!metadata) {
    throw new InvalidError({
      metadata_kv: ['Must be a JSON object whose values are strings, such as {"env":"production"}.'],
    });
  }
  const other = Object.keys(metadata).find((key) => Object.hasOwn(pairs, key) && pairs[key] !== metadata[key]);
  if (other === undefined) return metadata;
  throw new InvalidError({
    metadata_kv: [`Asks for another value of "${other}" than tag_key_value, the newer name of this parameter.`],
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
  tag_key: OptionalList(Type.String({ maxLength: 255 }), {
    maxItems: 64,
    description: 'Repeat the parameter for several keys; all of them must be present',
  }),
  tag_key_value: OptionalText({
    maxLength: MAX_QUERY_JSON,
    description: 'A JSON object of keys and values; all must match',
    examples: ['{"env":"production"}'],
  }),
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
