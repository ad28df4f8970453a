const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value as text in which the order of names doesn't matter. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_name, member) =>
    isObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  ) ?? '';

export const isSame = (one: unknown, other: unknown): boolean => canonical(one) === canonical(other);

/** Settings by name. One that is absent has its default. */
export type Values = Readonly<Record<string, unknown>>;

/** The names of the settings that differ. */
export const changedNames = (before: Values, after: Values): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !isSame(before[name], after[name]));

/** A setting that somebody has changed since it was read: they, the person, or both in different ways. */
export interface Line {
  name: string;
  base: unknown;
  theirs: unknown;
  yours: unknown;
  who: 'theirs' | 'yours' | 'both';
}

export function threeWay(base: Values, theirs: Values, yours: Values): Line[] {
  const byThem = new Set(changedNames(base, theirs));
  const byYou = new Set(changedNames(base, yours));
  return [...new Set([...byThem, ...byYou])].map((name) => ({
    name,
    base: base[name],
    theirs: theirs[name],
    yours: yours[name],
    who: !byYou.has(name) || isSame(theirs[name], yours[name]) ? 'theirs' : byThem.has(name) ? 'both' : 'yours',
  }));
}

export type Choices = Readonly<Partial<Record<string, 'theirs' | 'yours'>>>;

/** Their settings with those that only the person changed, and those that were chosen where both did. */
export function merged(theirs: Values, lines: readonly Line[], choices: Choices): Values {
  const result: Record<string, unknown> = { ...theirs };
  for (const { name, who, yours } of lines) {
    if (who === 'theirs' || (who === 'both' && choices[name] !== 'yours')) continue;
    if (yours === undefined) delete result[name];
    else result[name] = yours;
  }
  return result;
}
