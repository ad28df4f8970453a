import { DEFAULT_LIMIT, type NotificationSettingListQuery } from './schema.ts';

/** Addresses of the pages around this one, relative to the base address, such as `/users?offset=20&limit=10`. */
export function pagesAround(
  path: string,
  query: NotificationSettingListQuery,
  count: number,
): { next: string | null; previous: string | null } {
  const { limit = DEFAULT_LIMIT, offset = 0, ordering } = query;
  const rest = ordering === undefined || ordering === 'id' ? '' : `&ordering=${ordering}`;
  const at = (start: number) => `${path}?offset=${start}&limit=${limit}${rest}`;
  return {
    next: offset + limit < count ? at(offset + limit) : null,
    previous: offset > 0 ? at(Math.max(0, offset - limit)) : null,
  };
}
