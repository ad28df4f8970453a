import { changedNames, isSame, type Values } from '../../lib/changes.ts';

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
