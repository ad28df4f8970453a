type Value = string | number | boolean | undefined | Value[] | { [key: string]: Value };
export type Query = Record<string, Value>;

/** Lists repeat their key, what is inside an object follows a dot, and what isn't given is left out. */
export function queryString(query: Query = {}): string {
  const text = new URLSearchParams(pairs('', query)).toString();
  return text && `?${text}`;
}

function pairs(key: string, value: Value): [string, string][] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((item) => pairs(key, item));
  if (typeof value !== 'object') return [[key, String(value)]];
  return Object.entries(value).flatMap(([name, inner]) => pairs(key ? `${key}.${name}` : name, inner));
}
