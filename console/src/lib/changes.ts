export const isObject = (value: unknown): value is Record<string, unknown> =>
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

/** The fields that differ, as they are now: what to send so that nothing else is overwritten. */
export const changedFields = <Fields extends object>(before: Fields, after: Fields): Partial<Fields> => {
  const names = changedNames(before as Values, after as Values);
  return Object.fromEntries(Object.entries(after).filter(([name]) => names.includes(name))) as Partial<Fields>;
};

/** Texts as the API takes them that has null for an empty one. */
export const emptyAsNull = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, text || null])) as {
    [Name in keyof Fields]: Fields[Name] | null;
  };

/** What is in a field that takes several, separated by spaces or commas. */
export const wordsIn = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');
