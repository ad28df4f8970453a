import type { ReactNode } from 'react';
import { Fault } from './fault.tsx';

export interface Column<Row> {
  name: string;
  /** What stands above the column instead of its name. */
  head?: ReactNode;
  show: (row: Row) => ReactNode;
  number?: boolean;
}

interface Read<Row> {
  data?: { count: number; results: readonly Row[] } | undefined;
  error: object | null;
  refetch: () => unknown;
}

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
  const fault = error && <Fault error={error} again={() => void refetch()} />;
  if (!data) return fault ?? <p className="muted">Reading …</p>;
  return (
    <>
      {fault}
      {data.results.length === 0 ? (
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
              {data.results.map((row) => (
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
