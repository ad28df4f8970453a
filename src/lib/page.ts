/** One page of a list that is in memory, with the number of all that match. */
export function pageOf<Item, Shown>(
  matching: readonly Item[],
  query: { limit?: number; offset?: number },
  present: (item: Item) => Shown,
): { count: number; results: Shown[] } {
  const offset = query.offset ?? 0;
  const end = offset + (query.limit ?? 1000);
  return { count: matching.length, results: matching.slice(offset, end).map(present) };
}
