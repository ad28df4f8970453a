import { type UseQueryOptions, useQuery } from '@tanstack/react-query';
import type { HttpMethod } from 'openapi-typescript-helpers';
import type { ReactNode } from 'react';
import { ApiError } from '../lib/api.ts';
import { type Call, callOf } from '../lib/call.ts';
import { usePlace } from '../lib/place.ts';
import { type Search, useFilters } from '../lib/search.ts';
import { AsCode } from './as-code.tsx';
import { Bulk } from './bulk.tsx';
import { Filters } from './filters.tsx';
import { Page } from './page.tsx';
import { PAGE_SIZE, Pages } from './pages.tsx';
import { useSelection } from './selection.tsx';
import { type Column, Table } from './table.tsx';

/** What a page reads at its address, and the same request for the code beside it. */
export function useRead<Answer, Refusal, Data, Key extends readonly [HttpMethod, string, unknown?], Where>(
  reads: (search: Search, place: Where) => UseQueryOptions<Answer, Refusal, Data, Key>,
) {
  const filters = useFilters();
  const place = usePlace() as Where;
  const query = reads(filters, place);
  const [method, path, init] = query.queryKey;
  const call = callOf(method, path as never, init as never);
  const read = useQuery({
    ...query,
    // The router has just asked for this. Asking again would only add a line to the audit log.
    retryOnMount: ({ state: { error } }) => !(error instanceof ApiError && error.status === 403),
  });
  return { read, call, filters, place };
}

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
      {filters && <Filters>{filters}</Filters>}
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
