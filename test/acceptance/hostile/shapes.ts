import { filled, HEAD, type HostileRequest, MANY, MEBIBYTE } from './request.ts';

/** Bodies that are expensive for any operation. */
export const SHAPES: Record<string, string> = {
  '4000 unknown names': `{${filled(4_000, (n) => `"k${n}":0`)}}`,
  'a mebibyte of names': `{${filled(100_000, (n) => `"${n}":0`)}}`,
  'a mebibyte of items': `[${filled(340_000, () => '{}')}]`,
  'a mebibyte of depth': '['.repeat(MEBIBYTE / 2) + ']'.repeat(MEBIBYTE / 2),
  'depth below the limit': `${'{"a":'.repeat(MANY)}0${'}'.repeat(MANY)}`,
  'as many names as are taken': `{${filled(MANY, (n) => `"${String(n).padEnd(90, 'x')}":0`)}}`,
  'one long name': `{"${'n'.repeat(MEBIBYTE - 6)}":0}`,
  'one long text': `"${'t'.repeat(MEBIBYTE - 2)}"`,
  'a text of escapes': `"${'\\u00e9'.repeat(MEBIBYTE / 6 - 1)}"`,
  'no end': `{"a":"${'\\"'.repeat(MEBIBYTE / 2 - 4)}`,
};

/** Those of these bodies that an operation gets whose twin under the other base address gets all. */
export const FEW_SHAPES = ['4000 unknown names'];

/** Those that are refused by the reader of bodies, which all operations share, before there is a value to check. */
export const UNREAD_SHAPES = ['a mebibyte of names', 'a mebibyte of items', 'a mebibyte of depth', 'no end'];

/** Headers that are expensive for any operation. */
export const HEADS: HostileRequest[] = [
  { what: 'many headers', headers: Object.fromEntries(filled(1_500, (n) => [`x-${n}`, ''])) },
  { what: 'a long word', headers: { authorization: 'a'.repeat(HEAD) } },
  { what: 'a long API token', headers: { authorization: `apikey 1_${'a'.repeat(HEAD)}` } },
  { what: 'a login of dots', headers: { authorization: `Bearer ${'.'.repeat(HEAD)}` } },
  {
    what: 'a long login',
    headers: { authorization: `Bearer ${'a'.repeat(HEAD / 3)}.${'a'.repeat(HEAD / 3)}.a` },
  },
  { what: 'blanks', headers: { authorization: `a${' '.repeat(HEAD)}a` } },
  { what: 'a long Prefer', headers: { prefer: `wait=${' ,wait= '.repeat(HEAD / 8)}` } },
  { what: 'a long X-Forwarded-For', headers: { 'x-forwarded-for': '1,'.repeat(HEAD / 2) } },
];

/** Other paths, served or not. */
export const OTHER_PATHS = [
  '/healthz',
  '/readyz',
  '/metrics',
  '/docs',
  '/openapi.json',
  '/gcore/openapi.json',
  '/v1/tasks/of-nobody',
  '/nothing',
  `/${'a/'.repeat(HEAD / 2)}`,
  `/${'%41'.repeat(HEAD / 3)}`,
  `/cloud/v1/projects/${'1'.repeat(HEAD)}`,
];

/** Yields queries with the names that an operation accepts. */
export function* hostileQueries(names: readonly string[]): Generator<HostileRequest> {
  const slips = names.length > 0 ? names : ['limit'];
  yield { what: '3500 names', query: filled(3_500, String).join('&').slice(0, HEAD) };
  yield {
    what: 'names that are nearly right',
    query: pairs((n) => `${slips[n % slips.length]}s${n % 90}=1`),
  };
  for (const name of names) {
    yield { what: `${name} again and again`, query: pairs(() => `${name}=1`) };
    yield { what: `a long ${name}`, query: `${name}=${'1'.repeat(HEAD - 100)}!` };
    yield { what: `${name} of brackets`, query: `${name}=${encodeURIComponent('{"a":'.repeat(HEAD / 20))}` };
  }
}

function pairs(pair: (n: number) => string): string {
  return filled(4_000, pair).join('&').slice(0, HEAD);
}
