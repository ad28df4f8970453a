import { type ReactNode, useDeferredValue } from 'react';
import { Fault, Unread } from './fault.tsx';

export interface Column<Row> {
  name: string;
  /** What stands above the column instead of its name. */
  head?: ReactNode;
  show: (row: Row) => ReactNode;
  number?: boolean;
}

/** What was asked for and read, or rows that are there already. */
export interface Read<Row> {
  data?: readonly Row[] | { count?: number; results: readonly Row[] } | undefined;
  error?: object | null;
  refetch?: () => unknown;
}

/** How many rows are shown before the rest. */
const FIRST_ROWS = 25;

/** A page of a list that the server has filtered, ordered and cut. */
export function Table<Row>({
  caption,
  read: { data, error, refetch },
  columns,
  keyOf,
  empty,
}: {
  caption: string;
  read: Read<Row>;
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => string | number;
  empty: ReactNode;
}) {
  // The others a moment later, but at once if all are there already: who comes back is where they were on the page.
  const most = useDeferredValue(data ? Number.POSITIVE_INFINITY : FIRST_ROWS);
  if (!data) return <Unread error={error} again={refetch} />;
  const rows = 'results' in data ? data.results : data;
  return (
    <>
      {error && <Fault error={error} again={refetch} />}
      {rows.length === 0 ? (
        <div className="card empty">{empty}</div>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: wide tables scroll, also by keyboard
        // biome-ignore lint/a11y/useSemanticElements: it is no part of a form
        <div className="card scroll" role="group" aria-label={caption} tabIndex={0}>
          <table>
            <caption className="hidden">{caption}</caption>
            <thead>
              <tr>
                {columns.map(({ name, head, number }) => (
                  <th key={name} scope="col" className={number ? 'number' : undefined}>
                    {head ?? name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, most).map((row) => (
                <tr key={keyOf(row)}>
                  {columns.map(({ name, show, number }) => (
                    <td key={name} className={number ? 'number' : undefined}>
                      {show(row)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
