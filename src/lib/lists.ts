import { OptionalInteger, OptionalText, pageQuery } from './wire.ts';

/** Returns the entries of each key, in their order. Node 20 has no Map.groupBy. */
export function grouped<Key, Entry>(
  entries: readonly Entry[],
  keyOf: (entry: Entry) => Key,
): ReadonlyMap<Key, Entry[]> {
  const groups = new Map<Key, Entry[]>();
  for (const entry of entries) {
    const key = keyOf(entry);
    const group = groups.get(key);
    if (group) group.push(entry);
    else groups.set(key, [entry]);
  }
  return groups;
}

/** Returns the items, each after those that it needs. In a circle, one of them has to come too early. */
export function inDependencyOrder<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  needsOf: (item: T) => readonly string[],
): T[] {
  const left = new Map(items.map((item) => [keyOf(item), item]));
  const ordered: T[] = [];
  const take = (key: string): void => {
    const item = left.get(key);
    if (item === undefined) return;
    left.delete(key);
    needsOf(item).forEach(take);
    ordered.push(item);
  };
  for (const key of [...left.keys()]) take(key);
  return ordered;
}

/** The most that a list without a limit returns. */
export const MOST_LISTED = 10_000;

/** Query fields of a list that is an array, or pages with a `limit`, ordered by one or more of the fields. */
export function orderedListQuery(fields: readonly string[]) {
  const one = `-?(${fields.join('|')})`;
  const named = fields.join(', ');
  return {
    ...pageQuery(),
    limit: OptionalInteger({
      minimum: 1,
      maximum: 1000,
      description: 'Maximum number of results on a page. Without it, the answer is an array of all matches.',
    }),
    ordering: OptionalText({
      maxLength: 200,
      pattern: `^${one}(,${one})*$`,
      rule: `Must be one or more of ${named}, separated by commas; a minus before a field reverses its order.`,
      description: `Fields to order by, separated by commas: ${named}. A minus before a field reverses its order.`,
      default: 'id',
    }),
  };
}

/** Returns the fields and directions of an ordering such as `-created_at,id`. */
export function orderingOf<Field extends string>(ordering = 'id'): { field: Field; direction: 'asc' | 'desc' }[] {
  return ordering.split(',').map((field) => ({
    field: field.replace('-', '') as Field,
    direction: field.startsWith('-') ? 'desc' : 'asc',
  }));
}
