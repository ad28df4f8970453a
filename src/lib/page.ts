import { attempt, InvalidError } from './errors.ts';

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

/** Returns a token for the page after this place. Clients must not read it. */
export const pageToken = (place: string | number | readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(place)).toString('base64url');

/** Returns the place of a token; undefined without one. @throws InvalidError */
export function placeOf<Place>(
  token: string | undefined,
  isPlace: (place: unknown) => place is Place,
): Place | undefined {
  if (token === undefined) return undefined;
  const place: unknown = attempt(() => JSON.parse(Buffer.from(token, 'base64url').toString()));
  if (isPlace(place)) return place;
  throw new InvalidError({ page_token: ['Must be next_page_token of an earlier answer.'] });
}

/** Whether a place is an ID. */
export const isId = (place: unknown): place is number => Number.isSafeInteger(place);

/** Whether a place is a time, in milliseconds, and an ID. Bounded, so that a database can read the time. */
export const isTimeAndId = (place: unknown): place is [time: number, id: number] =>
  Array.isArray(place) &&
  place.length === 2 &&
  place.every((one) => Number.isSafeInteger(one) && one >= 0 && one < 1e14);

/**
 * Returns the addresses of the next and previous page, relative to the base address, such as
 * `/users?offset=20&limit=10`.
 */
export function pagesAround(
  path: string,
  page: { limit: number; offset: number },
  count: number,
  /** The request's other parameters, which the addresses keep. */
  rest: Record<string, string | number | boolean | undefined> = {},
): { next: string | null; previous: string | null } {
  const { limit, offset } = page;
  const kept = new URLSearchParams(
    Object.entries(rest).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as [string, string]],
    ),
  );
  const at = (start: number) => `${path}?offset=${start}&limit=${limit}${kept.size === 0 ? '' : `&${kept.toString()}`}`;
  return {
    next: offset + limit < count ? at(offset + limit) : null,
    previous: offset > 0 ? at(Math.max(0, offset - limit)) : null,
  };
}

type Direction = 'asc' | 'desc';

/** Returns the column and the direction of an order such as `created_at.desc`. */
export function orderOf<Column extends string>(order: `${Column}.${Direction}`): [Column, Direction] {
  return order.split('.') as [Column, Direction];
}
