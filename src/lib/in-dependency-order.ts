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
