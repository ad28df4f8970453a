/** Which part of a list is requested; its beginning by default. */
export interface PageQuery {
  limit?: number;
  offset?: number;
}

/** One page of a list, with the number of all matching rows. */
export interface Page<Row> {
  count: number;
  rows: Row[];
}

/** Returns one page of a list in memory. */
export function pageOf<Item, Shown>(
  matching: readonly Item[],
  { limit = 1000, offset = 0 }: PageQuery,
  present: (item: Item) => Shown,
): { count: number; results: Shown[] } {
  const rows = matching.slice(offset, offset + limit);
  return presentedPage({ count: matching.length, rows }, present);
}

/** Returns a page as the API shows it. */
export function presentedPage<Row, Shown>(
  { count, rows }: Page<Row>,
  present: (row: Row) => Shown,
): { count: number; results: Shown[] } {
  return { count, results: rows.map((row) => present(row)) };
}
