import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { useRefusal } from '../../lib/permissions.ts';
import { useRegionName } from '../../lib/place.ts';
import { given, useFilters } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { optionsOf } from '../../ui/choice.tsx';
import { CheckField, type Form, NumberField, SelectField, TextField } from '../../ui/field.tsx';
import { Filters, TextFilter } from '../../ui/filters.tsx';
import { FormDrawer } from '../../ui/form-drawer.tsx';
import { Money } from '../../ui/money.tsx';
import { Page } from '../../ui/page.tsx';
import { NextPages } from '../../ui/pages.tsx';
import { Review } from '../../ui/review.tsx';
import { Table } from '../../ui/table.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { isTraffic, PriceTable, unitOf } from '../account/prices.tsx';
import {
  bodyOf,
  type DatedList,
  type ForWhom,
  ForWhomFields,
  ListFilters,
  listColumns,
  useListParams,
  utc,
  whole,
  whyKept,
} from './dated-lists.tsx';

const PATH = '/tradewind/v1/price_lists';
const TABS = { lists: 'Price lists', account: 'What an account pays' };
const CURRENCIES = ['EUR', 'USD', 'AZN'] as const;

export function PriceLists() {
  const tab = useTab(TABS);
  const { account } = useFilters();
  const params = useListParams();
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
          <ListFilters />
          <Lists read={read} />
          <NextPages next={read.data?.next_page_token} />
        </>
      ) : (
        <>
          <Filters>
            <TextFilter name="account" label="Client ID" placeholder="your own" />
          </Filters>
          <PriceTable {...(client !== undefined && { clientId: client })} />
        </>
      )}
    </Page>
  );
}

interface List extends DatedList {
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
  per_gb?: number;
}

function Lists({
  read,
}: {
  read: { data?: { results: readonly List[] } | undefined; error: object | null; refetch: () => unknown };
}) {
  const regionName = useRegionName();
  return (
    <Table
      caption="Price lists, the latest first"
      read={read}
      keyOf={({ id }) => id}
      columns={[
        ...listColumns('prices'),
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
                      <code>{price.item}</code> {price.region_id !== undefined && `in ${regionName(price.region_id)} `}
                      <Money
                        amount={price.per_gb ?? price.per_hour ?? price.per_month}
                        currency={price.currency ?? currency}
                      />
                      {price.per_hour !== undefined && ' an hour'}
                      {price.per_month !== undefined && ' a month'} for {unitOf(price.item)}
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
              disabled={whyKept(valid_from)}
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

interface Fields extends ForWhom {
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
  /** Of an hour; of traffic, of a GB. */
  price: number | undefined;
}

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
      call={({ currency, hidden, trial_until, prices, discount_percent, tax_percent, ...forWhom }) =>
        callOf('post', PATH, {
          body: {
            ...bodyOf(forWhom),
            ...given({
              currency: CURRENCIES.find((one) => one === currency),
              discount_percent,
              tax_percent,
              visible: hidden ? false : undefined,
              trial_until: utc(trial_until),
              prices:
                prices.length === 0
                  ? undefined
                  : prices.map(({ item, region_id, price }) => ({
                      item,
                      ...given({ region_id, [isTraffic(item) ? 'per_gb' : 'per_hour']: price }),
                    })),
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
      <ForWhomFields scope={values.scope} field={field} several={several} />
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
        {values.prices.map(({ item, region_id, price }, at) => (
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
              label={`Price of ${isTraffic(item) ? 'a GB' : 'an hour'} of item ${at + 1}`}
              required
              min={0}
              step="any"
              value={price}
              onChange={(price) => change(at, { price })}
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
              set({ prices: [...values.prices, { item: items[0] ?? '', region_id: undefined, price: undefined }] })
            }
          >
            Add a price
          </button>
        </div>
      </fieldset>
    </>
  );
}
