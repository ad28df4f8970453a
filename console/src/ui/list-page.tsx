import type { ReactNode } from 'react';
import type { Call } from '../lib/call.ts';
import { AsCode } from './as-code.tsx';
import { Bulk } from './bulk.tsx';
import { Page } from './page.tsx';
import { PAGE_SIZE, Pages } from './pages.tsx';
import { useSelection } from './selection.tsx';
import { type Column, Table } from './table.tsx';

/** What can be done with several rows at once. */
interface BulkAction<Row> {
  operation: string;
  label: string;
  /** What was done afterwards, such as "Deleted". */
  done?: string;
  tone?: 'danger' | 'primary' | 'quiet';
  call: (row: Row) => Call;
  /** Why a row is likely to be refused. */
  warning?: (row: Row) => string | undefined;
  /** Leads to what was refused. */
  link?: (row: Row) => ReactNode;
}

/** The page of a list: its filters, what can be done with chosen rows, the rows, and the way to more of them. */
export function ListPage<Row>({
  title,
  caption = title,
  // In a sentence, but for short words such as IP, SSH and AI.
  noun = title.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase()),
  call,
  read,
  keyOf,
  nameOf = (row) => String(keyOf(row)),
  columns,
  bulk = [],
  bulkBelow = false,
  actions,
  more,
  create,
  filters,
  filtered = false,
  empty,
  size = PAGE_SIZE,
  children,
  below,
}: {
  title: string;
  caption?: string;
  /** What the rows are, in the plural. */
  noun?: string;
  /** The request that reads the list. */
  call: Call;
  read: {
    data?: { count: number; results: readonly Row[] } | undefined;
    error: object | null;
    refetch: () => unknown;
  };
  keyOf: (row: Row) => string | number;
  /** What a row is called where it is chosen. */
  nameOf?: (row: Row) => string;
  columns: readonly Column<Row>[];
  bulk?: readonly BulkAction<Row>[];
  /** Whether the buttons for chosen rows are below the filters, and not beside the title. */
  bulkBelow?: boolean;
  /** Buttons beside the title: the first ones. */
  actions?: ReactNode;
  /** The last ones. */
  more?: ReactNode;
  /** The last one, which also an empty list offers. */
  create?: ReactNode;
  filters?: ReactNode;
  /** Whether an empty list may be so because of the filters. */
  filtered?: boolean;
  /** What an empty list says. */
  empty: string;
  /** The rows of a page. */
  size?: number;
  /** What is above the filters. */
  children?: ReactNode;
  /** What is below the list. */
  below?: ReactNode;
}) {
  const { chosen, column, drop } = useSelection(read.data?.results, (row) => String(keyOf(row)), nameOf);
  const buttons = bulk.map(({ call: callOn, warning, link, ...action }) => (
    <Bulk
      key={action.label}
      {...action}
      noun={noun}
      items={chosen.map((row) => ({
        id: String(keyOf(row)),
        name: nameOf(row),
        call: callOn(row),
        warning: warning?.(row),
        link: link?.(row),
      }))}
      onDone={drop}
    />
  ));
  return (
    <Page
      title={title}
      actions={
        <>
          {actions}
          <AsCode calls={[call]} />
          {!bulkBelow && buttons}
          {more}
          {create}
        </>
      }
    >
      {children}
      {filters && <search className="filters">{filters}</search>}
      {bulkBelow && <div className="row">{buttons}</div>}
      <Table
        caption={caption}
        read={read}
        keyOf={keyOf}
        columns={bulk.length > 0 ? [column, ...columns] : columns}
        empty={
          <>
            <p>{empty}</p>
            {!filtered && create}
          </>
        }
      />
      <Pages count={read.data?.count ?? 0} size={size} />
      {below}
    </Page>
  );
}
