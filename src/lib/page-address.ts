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
  const at = (start: number) =>
    `${path}?offset=${start}&limit=${limit}${kept.size === 0 ? '' : `&${kept.toString()}`}`;
  return {
    next: offset + limit < count ? at(offset + limit) : null,
    previous: offset > 0 ? at(Math.max(0, offset - limit)) : null,
  };
}
