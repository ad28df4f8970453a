import { useState } from 'react';
import type { Column } from './table.tsx';

/** Lets people choose rows of a table, for what is done with several at once. Rows of other pages don't count. */
export function useSelection<Row>(
  rows: readonly Row[] | undefined,
  idOf: (row: Row) => string,
  nameOf: (row: Row) => string,
): {
  chosen: readonly Row[];
  /** A column with a box for each row. */
  column: Column<Row>;
  /** Forgets those that are gone. */
  drop: (ids: readonly string[]) => void;
} {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const shown = rows ?? [];
  const chosen = shown.filter((row) => ids.has(idOf(row)));
  const all = shown.length > 0 && chosen.length === shown.length;
  const set = (these: readonly string[], wanted: boolean) =>
    setIds((before) => new Set([...before].filter((id) => !these.includes(id)).concat(wanted ? these : [])));
  return {
    chosen,
    drop: (gone) => set(gone, false),
    column: {
      name: 'Choose',
      head: (
        <input
          type="checkbox"
          aria-label="Choose all on this page"
          disabled={shown.length === 0}
          checked={all}
          onChange={() => set(shown.map(idOf), !all)}
        />
      ),
      show: (row) => (
        <input
          type="checkbox"
          aria-label={`Choose ${nameOf(row)}`}
          checked={ids.has(idOf(row))}
          onChange={({ target }) => set([idOf(row)], target.checked)}
        />
      ),
    },
  };
}
