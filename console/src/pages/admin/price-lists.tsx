import { Link } from '@tanstack/react-router';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { useRefusal } from '../../lib/permissions.ts';
import { given, useFilters } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { optionsOf } from '../../ui/choice.tsx';
import { CheckField, type Form, NumberField, SelectField, TextField } from '../../ui/field.tsx';
import { ChoiceFilter, TextFilter } from '../../ui/filters.tsx';
import { FormDrawer } from '../../ui/form-drawer.tsx';
import { Money } from '../../ui/money.tsx';
import { Page } from '../../ui/page.tsx';
import { NextPages, PAGE_SIZE } from '../../ui/pages.tsx';
import { Review } from '../../ui/review.tsx';
import { Table } from '../../ui/table.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { PriceTable } from '../account/prices.tsx';

const PATH = '/tradewind/v1/price_lists';
const TABS = { lists: 'Price lists', account: 'What an account pays' };
const SCOPES = [
  { value: 'everyone', text: 'all accounts' },
  { value: 'reseller', text: 'a reseller' },
  { value: 'client', text: 'one account' },
] as const;
type Scope = (typeof SCOPES)[number]['value'];
const CURRENCIES = ['EUR', 'USD', 'AZN'] as const;

const whole = (text: string | undefined) => (text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined);

export function PriceLists() {
  const tab = useTab(TABS);
  const { scope, id, page_token, account } = useFilters();
  const params = {
    query: {
      limit: PAGE_SIZE,
      ...given({
        scope: SCOPES.find(({ value }) => value === scope)?.value,
        id: scope === 'everyone' ? undefined : whole(id),
        page_token,
      }),
    },
  };
  const read = $api.useQuery('get', PATH, { params }, { enabled: tab === 'lists' });
  const client = whole(account);
  return (
    <Page
      title="Price lists"
      actions={
        <>
          <CreateList />
          <AsCode
            calls={[
              tab === 'lists'
                ? callOf('get', PATH, { params })
                : callOf('get', '/tradewind/v1/prices', { params: { query: given({ client_id: client }) } }),
            ]}
          />
        </>
      }
    >
      <Tabs tabs={TABS} label="Parts of the page" />
      {tab === 'lists' ? (
        <>
          <search className="filters">
            <ChoiceFilter name="scope" label="For" none="anybody" options={SCOPES} />
            {(scope === 'reseller' || scope === 'client') && (
              <TextFilter name="id" label={scope === 'reseller' ? 'Reseller ID' : 'Client ID'} />
            )}
          </search>
          <Lists read={read} />
          <NextPages next={read.data?.next_page_token} />
        </>
      ) : (
        <>
          <search className="filters">
            <TextFilter name="account" label="Client ID" placeholder="your own" />
          </search>
          <PriceTable {...(client !== undefined && { clientId: client })} />
        </>
      )}
    </Page>
  );
}

interface List {
  id: number;
  scope: Scope;
  reseller_id: number | null;
  client_id: number | null;
  valid_from: string;
  currency?: string;
  discount_percent?: number;
  tax_percent?: number;
  visible?: boolean;
  trial_until?: string;
  prices?: readonly Price[];
}
interface Price {
  item: string;
  region_id?: number;
  currency?: string;
  per_hour?: number;
  per_month?: number;
}

function Lists({
  read,
}: {
  read: { data?: { results: readonly List[] } | undefined; error: object | null; refetch: () => unknown };
}) {
  return (
    <Table
      caption="Price lists, the latest first"
      read={read}
      keyOf={({ id }) => id}
      columns={[
        { name: 'ID', show: ({ id }) => <code>{id}</code> },
        {
          name: 'For',
          show: ({ scope, reseller_id, client_id }) =>
            scope === 'everyone' ? (
              'all accounts'
            ) : scope === 'reseller' ? (
              `reseller ${reseller_id}`
            ) : (
              <Link
                to="/admin/clients/$client"
                params={{ client: String(client_id) }}
                search={{ tab: 'prices' } as never}
              >
                client {client_id}
              </Link>
            ),
        },
        {
          name: 'From',
          show: ({ valid_from }) => (
            <>
              <Time at={valid_from} />{' '}
              {Date.parse(valid_from) > Date.now() && <span className="badge busy">not yet in force</span>}
            </>
          ),
        },
        {
          name: 'Says',
          show: ({ currency, discount_percent, tax_percent, visible, trial_until }) => (
            <>
              {[
                currency,
                discount_percent !== undefined && `${discount_percent} % discount`,
                tax_percent !== undefined && `${tax_percent} % tax`,
                visible === false && 'prices hidden',
                visible === true && 'prices shown',
              ]
                .filter(Boolean)
                .join(', ')}
              {trial_until && (
                <>
                  {' '}
                  trial until <Time at={trial_until} />
                </>
              )}
            </>
          ),
        },
        {
          name: 'Prices',
          show: ({ prices = [], currency }) =>
            prices.length > 0 && (
              <details>
                <summary>{prices.length}</summary>
                <ul>
                  {prices.map((price) => (
                    <li key={`${price.item} ${price.region_id}`}>
                      <code>{price.item}</code> {price.region_id !== undefined && `in region ${price.region_id} `}
                      <Money amount={price.per_hour ?? price.per_month} currency={price.currency ?? currency} />
                      {price.per_hour === undefined ? ' a month' : ' an hour'}
                    </li>
                  ))}
                </ul>
              </details>
            ),
        },
        {
          name: 'Actions',
          show: ({ id, valid_from }) => (
            <Review
              operation="deletePriceList"
              label="Delete"
              tone="danger"
              disabled={
                Date.parse(valid_from) > Date.now() ? undefined : 'It has come into force: let another list follow it'
              }
              title={`Delete price list ${id}?`}
              call={() =>
                callOf('delete', '/tradewind/v1/price_lists/{price_list_id}', {
                  params: { path: { price_list_id: id } },
                })
              }
            />
          ),
        },
      ]}
      empty={<p>Everything costs what the catalogue says.</p>}
    />
  );
}

interface Fields {
  scope: string;
  id: number | undefined;
  valid_from: string;
  currency: string;
  discount_percent: number | undefined;
  tax_percent: number | undefined;
  hidden: boolean;
  trial_until: string;
  prices: readonly Entry[];
}
interface Entry {
  item: string;
  region_id: number | undefined;
  per_hour: number | undefined;
}

/** Of a day in a form, as the API writes times. */
const utc = (local: string): string | undefined => (local ? `${local}:00Z` : undefined);

function CreateList() {
  const several = useRefusal()('createReseller') === undefined;
  return (
    <FormDrawer<Fields>
      operation="createPriceList"
      label="Create price list"
      title="Create a price list"
      tone="primary"
      initial={{
        scope: several ? 'everyone' : 'client',
        id: undefined,
        valid_from: '',
        currency: '',
        discount_percent: undefined,
        tax_percent: undefined,
        hidden: false,
        trial_until: '',
        prices: [],
      }}
      apply="Create"
      call={({ scope, id, valid_from, currency, hidden, trial_until, prices, discount_percent, tax_percent }) =>
        callOf('post', PATH, {
          body: {
            scope: scope as Scope,
            ...given({
              id: scope === 'everyone' ? undefined : id,
              valid_from: utc(valid_from),
              currency: CURRENCIES.find((one) => one === currency),
              discount_percent,
              tax_percent,
              visible: hidden ? false : undefined,
              trial_until: utc(trial_until),
              prices:
                prices.length === 0
                  ? undefined
                  : prices.map(({ item, region_id, per_hour }) => ({ item, ...given({ region_id, per_hour }) })),
            }),
          },
        })
      }
    >
      {(form) => <ListFields {...form} several={several} />}
    </FormDrawer>
  );
}

function ListFields({ values, set, faults, field, several }: Form<Fields> & { several: boolean }) {
  const known = $api.useQuery('get', '/tradewind/v1/prices', {});
  const items = [...new Set(known.data?.prices.map(({ item }) => item))];
  const change = (at: number, part: Partial<Entry>) =>
    set({ prices: values.prices.map((one, place) => (place === at ? { ...one, ...part } : one)) });
  return (
    <>
      <SelectField
        label="For"
        options={several ? SCOPES : SCOPES.filter(({ value }) => value === 'client')}
        {...field('scope')}
        help="The narrower goes before the wider. What a list leaves out is as in the wider one, then as in the catalogue."
      />
      {values.scope !== 'everyone' && (
        <NumberField
          label={values.scope === 'reseller' ? 'Reseller ID' : 'Client ID'}
          required
          min={1}
          {...field('id')}
        />
      )}
      <TextField
        label="From (UTC)"
        type="datetime-local"
        {...field('valid_from')}
        help="Empty: at once. It replaces the list before for the same accounts."
      />
      <SelectField
        label="Currency"
        options={[{ value: '', text: 'as before' }, ...optionsOf(CURRENCIES)]}
        {...field('currency')}
      />
      <NumberField label="Discount in percent" step="any" min={0} max={100} {...field('discount_percent')} />
      <NumberField label="Tax in percent" step="any" min={0} {...field('tax_percent')} />
      <CheckField label="Hide prices from these accounts" {...field('hidden')} />
      <TextField label="On trial until (UTC)" type="datetime-local" {...field('trial_until')} />
      <fieldset className="part">
        <legend>Prices</legend>
        {faults.prices && (
          <p className="fault" role="alert">
            {faults.prices.join(' ')}
          </p>
        )}
        {values.prices.map(({ item, region_id, per_hour }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an entry is its place in the list
          <div key={at} className="entry">
            <SelectField
              label={`Item ${at + 1}`}
              value={item}
              options={optionsOf(items)}
              onChange={(item) => change(at, { item })}
            />
            <NumberField
              label={`Region ID of item ${at + 1}`}
              min={1}
              value={region_id}
              onChange={(region_id) => change(at, { region_id })}
              help="Empty: in all regions."
            />
            <NumberField
              label={`Price an hour of item ${at + 1}`}
              required
              min={0}
              step="any"
              value={per_hour}
              onChange={(per_hour) => change(at, { per_hour })}
            />
            <button
              type="button"
              className="button quiet"
              onClick={() => set({ prices: values.prices.filter((_, place) => place !== at) })}
            >
              Remove item {at + 1}
            </button>
          </div>
        ))}
        <div>
          <button
            type="button"
            className="button"
            onClick={() =>
              set({ prices: [...values.prices, { item: items[0] ?? '', region_id: undefined, per_hour: undefined }] })
            }
          >
            Add a price
          </button>
        </div>
      </fieldset>
    </>
  );
}
