import { randomUUID } from 'node:crypto';
import type { DocumentedOperation } from '../../support/openapi.ts';
import { filled, HEAD, type HostileRequest, MANY, MEBIBYTE } from './request.ts';
import { isText, type Json, type Place, placesIn, sampleOf, varied, withValue } from './schemas.ts';

/** Yields bodies for this operation, derived from one that it accepts. */
export function* hostileBodies(of: DocumentedOperation, body: Json): Generator<HostileRequest> {
  const places = placesIn(of);
  yield { what: 'names that are nearly right', body: slips(places[0], body) };
  for (const place of places) {
    for (const [what, value] of [...lists(of, place), ...maps(of, place)]) {
      const text = JSON.stringify(withValue(body, place, value));
      if (text.length <= MEBIBYTE) yield { what: `${what} at ${place.path.join('.') || 'body'}`, body: text };
    }
  }
  yield* longTexts(of, body, places.filter(isText));
  yield {
    what: 'a key and many versions',
    body: JSON.stringify(body),
    headers: { 'idempotency-key': randomUUID(), 'if-match': '"",'.repeat(HEAD / 3) },
  };
}

/** Returns every name of the body misspelt, many times over. */
function slips(whole: Place | undefined, body: Json): string {
  const names = Object.keys(whole?.schema.properties ?? { name: {} });
  const wrong = filled(4_000, (n) => [`${names[n % names.length]}${'_'.repeat(n % 5)}${n % 89}`, 0]);
  return JSON.stringify({ ...(typeof body === 'object' && body), ...Object.fromEntries(wrong) });
}

function lists(of: DocumentedOperation, { schema }: Place): [string, Json][] {
  if (!schema.items) return [];
  const item = sampleOf(of, schema.items);
  const most = MANY / Math.max(1, JSON.stringify(item).split(/[,[{]/).length);
  return [
    ['empty items', filled(MANY / 2, () => ({}))],
    ['numbers', filled(MANY, (n) => n)],
    ['too many items', filled(most, (n) => varied(item, n))],
    ['as many items as fit', filled(Math.min(schema.maxItems ?? most, most), (n) => varied(item, n))],
  ];
}

function maps(of: DocumentedOperation, { schema }: Place): [string, Json][] {
  const { additionalProperties: values, maxProperties = 1_000 } = schema;
  if (typeof values !== 'object') return [];
  const value = sampleOf(of, values);
  const names = (count: number, name: (n: number) => string): Json =>
    Object.fromEntries(filled(count, (n) => [name(n), varied(value, n)]));
  return [
    ['too many names', names(MANY, (n) => `name-${n}`)],
    ['as many names as fit', names(maxProperties, (n) => `name-${n}`)],
    ['long names', names(64, (n) => `${n}${'scale-down-'.repeat(400)}`)],
    ['names that are nearly right', names(64, (n) => `scale-down-unneeded-tim${'abcdefgh'[n % 8]}${n}`)],
  ];
}

/**
 * Yields bodies in which every text is long, separately for each branch of a union; the texts nearly match
 * their patterns.
 */
function* longTexts(of: DocumentedOperation, body: Json, places: Place[]): Generator<HostileRequest> {
  for (const branch of byBranch(places)) {
    const length = Math.min(100_000, Math.floor((MEBIBYTE - 100_000) / branch.length / 2));
    for (const piece of ['a', '\n', '=', 'sample', 'last']) {
      const long = ({ schema }: Place) => {
        const found = sampleOf(of, schema);
        const sample = typeof found === 'string' && found !== '' ? found : 'a';
        const part = { sample, last: sample.at(-1) ?? 'a' }[piece] ?? piece;
        return `${part.repeat(Math.ceil(length / part.length))}!`;
      };
      const text = JSON.stringify(branch.reduce((into, place) => withValue(into, place, long(place)), body));
      if (text.length <= MEBIBYTE) yield { what: `long texts of ${JSON.stringify(piece)}`, body: text };
    }
  }
}

function byBranch(places: Place[]): Place[][] {
  const branches = new Map<string, Place[]>();
  for (const place of places) {
    const key = JSON.stringify(place.fixed);
    branches.set(key, [...(branches.get(key) ?? []), place]);
  }
  return [...branches.values()];
}
