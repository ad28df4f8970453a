import { Link } from '@tanstack/react-router';
import { pageOf, type Search, useFilters } from '../lib/search.ts';

export const PAGE_SIZE = 50;

/** How the API is asked for the page of a list that the address names. */
export const pagingOf = (search: Search, size = PAGE_SIZE) => ({ limit: size, offset: (pageOf(search) - 1) * size });
export const usePaging = (size = PAGE_SIZE) => pagingOf(useFilters(), size);

/** Leads through the pages of a list. The address names the page. */
export function Pages({ count, size = PAGE_SIZE }: { count: number; size?: number }) {
  const page = pageOf(useFilters());
  const last = Math.max(1, Math.ceil(count / size));
  if (last === 1) return <p className="muted">{count === 1 ? 'One in all' : `${count} in all`}</p>;
  const to = (next: number, text: string) => (
    <Link
      to="."
      search={(before: Search) => ({ ...before, page: String(next) })}
      className="button"
      disabled={next < 1 || next > last}
    >
      {text}
    </Link>
  );
  return (
    <nav className="row" aria-label="Pages of the list">
      {to(page - 1, 'Previous')}
      <span>
        Page {page} of {last}
      </span>
      {to(page + 1, 'Next')}
      <span className="muted">{count} in all</span>
    </nav>
  );
}

/** Leads through the pages of a list that is read from one place to the next. */
export function NextPages({ next }: { next: string | null | undefined }) {
  const { page_token } = useFilters();
  if (!next && page_token === undefined) return null;
  const to = (token: string | undefined, text: string) => (
    <Link
      to="."
      search={({ page_token: _, ...before }: Search) => ({
        ...before,
        ...(token !== undefined && { page_token: token }),
      })}
      className="button"
    >
      {text}
    </Link>
  );
  return (
    <nav className="row" aria-label="Pages of the list">
      {page_token !== undefined && to(undefined, 'To the first page')}
      {next && to(next, 'Next')}
    </nav>
  );
}
