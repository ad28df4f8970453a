import { isDeepStrictEqual } from 'node:util';
import type { DocumentedOperation } from '../../support/openapi.ts';
import { filled } from './request.ts';
import { isText, type Json, type Place, placesIn, resolved, sampleOf, valueAt, varied, withValue } from './schemas.ts';

/** Makes one place of a body larger. If a rule refuses that, fewer items or characters may be accepted. */
interface Growth {
  place: Place;
  most: number;
  /** Returns undefined where there is nothing to enlarge. */
  grown(value: Json | undefined, size: number): Json | undefined;
}

/** What a list or map without a limit of its own may have in a body. */
const UNLIMITED = 1_000;
const SHRINKS = 5;
/** Where the numbers of other items begin. */
const OTHERS = 5_000;

/**
 * Returns the largest body that the operation accepts: every optional part, the longest texts, the fullest maps and
 * lists. A rule may refuse what the schema allows, so that each of them is tried.
 */
export async function largestBody(
  of: DocumentedOperation,
  base: Json,
  accepts: (body: Json) => Promise<boolean>,
): Promise<Json> {
  const places = placesIn(of).filter(({ path }) => !path.includes('any-name'));
  const inner = places.toReversed();
  let body = base;
  for (const growths of [
    places.flatMap((place) => missingPart(of, place)),
    inner.flatMap(longText),
    inner.flatMap((place) => [...fullMap(of, place), ...fullList(of, place)]),
  ]) {
    body = await grow(body, growths, accepts);
  }
  return body;
}

/** Returns the body with other items in its lists, as many as before. */
export function withOtherItems(of: DocumentedOperation, body: Json): Json {
  return placesIn(of)
    .filter(({ path, schema }) => schema.items && !path.includes('0') && !path.includes('any-name'))
    .reduce((into, place) => {
      const value = valueAt(into, place);
      const [first] = Array.isArray(value) ? value : [];
      if (!Array.isArray(value) || first === undefined) return into;
      return withValue(
        into,
        place,
        value.map((_, n) => varied(first, n + OTHERS)),
      );
    }, body);
}

/** Tries all at once, then each half: few are refused. */
async function grow(body: Json, growths: Growth[], accepts: (body: Json) => Promise<boolean>): Promise<Json> {
  const larger = apply(body, growths, 1);
  if (larger === body || (await accepts(larger))) return larger;
  if (growths.length > 1) {
    const half = Math.ceil(growths.length / 2);
    return grow(await grow(body, growths.slice(0, half), accepts), growths.slice(half), accepts);
  }
  let refused = larger;
  for (let shrink = 1; shrink < SHRINKS; shrink++) {
    const smaller = apply(body, growths, 2 ** shrink);
    // It can't be made any smaller, and this size was refused.
    if (isDeepStrictEqual(smaller, refused)) return body;
    if (smaller === body || (await accepts(smaller))) return smaller;
    refused = smaller;
  }
  return body;
}

function apply(body: Json, growths: Growth[], divisor: number): Json {
  return growths.reduce((into, { place, most, grown }) => {
    const value = grown(valueAt(into, place), Math.floor(most / divisor));
    return value === undefined || usesOtherBranch(into, place) ? into : withValue(into, place, value);
  }, body);
}

function usesOtherBranch(body: Json, { fixed }: Place): boolean {
  return fixed.some(({ path, value }) => {
    const used = valueAt(body, { path, schema: {}, fixed: [] });
    return used !== undefined && used !== value;
  });
}

function missingPart(of: DocumentedOperation, place: Place): Growth[] {
  const { schema } = place;
  const size = schema.minItems ?? 1;
  return place.path.length === 0
    ? []
    : [{ place, most: size, grown: (value) => (value === undefined ? sampleOf(of, schema) : undefined) }];
}

function longText(place: Place): Growth[] {
  const { maxLength } = place.schema;
  if (!isText(place) || maxLength === undefined) return [];
  return [
    {
      place,
      most: maxLength,
      grown: (value, size) =>
        typeof value === 'string' && value !== '' && value.length < size
          ? value + (value.at(-1) ?? '').repeat(size - value.length)
          : undefined,
    },
  ];
}

function fullMap(of: DocumentedOperation, place: Place): Growth[] {
  const { additionalProperties: values, maxProperties = UNLIMITED } = place.schema;
  if (typeof values !== 'object') return [];
  const { maxLength = 1, ...schema } = resolved(of, values);
  const sample = sampleOf(of, values);
  const long = typeof sample === 'string' && !schema.pattern ? sample.padEnd(maxLength, 'v') : sample;
  return [
    {
      place,
      most: maxProperties,
      grown: (_value, size) => Object.fromEntries(filled(size, (n) => [`name-${n}`, varied(long, n)])),
    },
  ];
}

function fullList(of: DocumentedOperation, place: Place): Growth[] {
  const { items, maxItems = UNLIMITED } = place.schema;
  if (!items) return [];
  return [
    {
      place,
      most: maxItems,
      grown: (value, size) => {
        const [item = sampleOf(of, items)] = Array.isArray(value) ? value : [];
        return filled(size, (n) => varied(item, n));
      },
    },
  ];
}
