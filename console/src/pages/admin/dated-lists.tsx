import { Link } from '@tanstack/react-router';
import { serverNow } from '../../lib/hub.ts';
import { given, useFilters } from '../../lib/search.ts';
import { type Form, NumberField, SelectField, TextField } from '../../ui/field.tsx';
import { ChoiceFilter, Filters, TextFilter } from '../../ui/filters.tsx';
import { PAGE_SIZE } from '../../ui/pages.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

/*
 * What price lists and quota lists have in common: they say something about accounts from a time on.
 */

const SCOPES = [
  { value: 'everyone', text: 'all accounts' },
  { value: 'reseller', text: 'a reseller' },
  { value: 'client', text: 'one account' },
] as const;
type Scope = (typeof SCOPES)[number]['value'];

export interface DatedList {
  id: number;
  scope: Scope;
  reseller_id: number | null;
  client_id: number | null;
  valid_from: string;
}

/** A number of a filter. The server says so where a text is none. */
export const whole = (text: string | undefined) => (text ? Number(text) : undefined);

/** What the address asks for of such a list. */
export function useListParams() {
  const { scope, id, page_token } = useFilters();
  return {
    query: {
      limit: PAGE_SIZE,
      ...given({
        scope: SCOPES.find(({ value }) => value === scope)?.value,
        id: scope === 'everyone' ? undefined : whole(id),
        page_token,
      }),
    },
  };
}

export function ListFilters() {
  const { scope } = useFilters();
  return (
    <Filters>
      <ChoiceFilter name="scope" label="For" none="anybody" options={SCOPES} />
      {(scope === 'reseller' || scope === 'client') && (
        <TextFilter name="id" label={scope === 'reseller' ? 'Reseller ID' : 'Client ID'} />
      )}
    </Filters>
  );
}

export const ClientLink = ({ id, tab }: { id: number; tab: string }) => (
  <Link to="/admin/clients/$client" params={{ client: String(id) }} search={{ tab } as never}>
    client {id}
  </Link>
);

/** For whom a list is, and from when on. A tab of the client's page says what comes of it. */
export const listColumns = (tab: string): Column<DatedList>[] => [
  { name: 'ID', show: ({ id }) => <code>{id}</code> },
  {
    name: 'For',
    show: ({ scope, reseller_id, client_id }) =>
      scope === 'everyone' ? (
        'all accounts'
      ) : scope === 'reseller' ? (
        `reseller ${reseller_id}`
      ) : (
        <ClientLink id={client_id ?? 0} tab={tab} />
      ),
  },
  {
    name: 'From',
    show: ({ valid_from }) => (
      <>
        <Time at={valid_from} /> {!isInForce(valid_from) && <span className="badge busy">not yet in force</span>}
      </>
    ),
  },
];

const isInForce = (validFrom: string): boolean => Date.parse(validFrom) <= serverNow();
/** Why a list can't be deleted. */
export const whyKept = (validFrom: string): string | undefined =>
  isInForce(validFrom) ? 'It has come into force: let another list follow it' : undefined;

/** The fields for whom a new list is, and from when on. */
export interface ForWhom {
  scope: string;
  id: number | undefined;
  valid_from: string;
}

/** Of a day in a form, as the API writes times. */
export const utc = (local: string): string | undefined => (local ? `${local}:00Z` : undefined);

export const bodyOf = ({ scope, id, valid_from }: ForWhom) => ({
  scope: scope as Scope,
  ...given({ id: scope === 'everyone' ? undefined : id, valid_from: utc(valid_from) }),
});

export function ForWhomFields({
  scope,
  field,
  several,
}: {
  scope: string;
  field: Form<ForWhom>['field'];
  /** Whether the person may say something about several accounts. */
  several: boolean;
}) {
  return (
    <>
      <SelectField
        label="For"
        options={several ? SCOPES : SCOPES.filter(({ value }) => value === 'client')}
        {...field('scope')}
        help="The narrower goes before the wider. What a list leaves out is as in the wider one, then as in the catalogue."
      />
      {scope !== 'everyone' && (
        <NumberField label={scope === 'reseller' ? 'Reseller ID' : 'Client ID'} required min={1} {...field('id')} />
      )}
      <TextField
        label="From (UTC)"
        type="datetime-local"
        {...field('valid_from')}
        help="Empty: at once. It replaces the list before for the same accounts."
      />
    </>
  );
}
