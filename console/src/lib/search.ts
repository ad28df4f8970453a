import { useNavigate, useSearch } from '@tanstack/react-router';

/** What the address says of a page: which part of a list, of what, in which order. Texts, as people write them. */
export type Search = Readonly<Partial<Record<string, string>>>;

export const parseSearch = (text: string): Search => Object.fromEntries(new URLSearchParams(text));
export const stringifySearch = (search: Record<string, unknown>): string => {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
};

export const useFilters = (): Search => useSearch({ strict: false });

/** Those of the filters that a list has, under the names that the API gives them too. Texts fit every query: the server says which it takes. */
export const only = (filters: Search, names: readonly string[]) =>
  Object.fromEntries(names.flatMap((name) => (filters[name] ? [[name, filters[name]]] : []))) as Record<string, never>;

/** The page of a list in the address, from 1. */
export function pageOf(search: Search): number {
  const page = Number(search.page);
  return Number.isSafeInteger(page) && page > 1 ? page : 1;
}

/** What is given, of what may be: empty texts and undefined values are left out. */
export const given = <Values extends object>(values: Values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== '')) as {
    [Name in keyof Values]?: Exclude<Values[Name], undefined>;
  };

/** Changes what the address says. A changed filter leads to the first page of the list. */
export function useSetFilters(): (change: Search) => void {
  const navigate = useNavigate();
  return (change) =>
    void navigate({
      to: '.',
      search: (({ page: _, page_token: __, ...before }: Search) => ({ ...before, ...change })) as never,
      replace: true,
      resetScroll: false,
    });
}
