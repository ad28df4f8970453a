import type { FieldProblem } from './errors.ts';

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
  if (taken.has(key))
    return 'Is the same key as another one once the spaces around it are removed; send it once.';
  return undefined;
}

function valueFault(value: string): string | undefined {
  if (value === '') return 'A tag value must not be empty; leave the tag out instead.';
  if (lengthOf(value) > TAG_MAX_LENGTH) return `A tag value may have at most ${TAG_MAX_LENGTH} characters.`;
  if (!VALUE.test(value))
    return 'A tag value must not contain tabs or line breaks; spaces inside are allowed.';
  return undefined;
}

/** Counts characters as JSON Schema does, not UTF-16 units. */
function lengthOf(text: string): number {
  return [...text].length;
}
