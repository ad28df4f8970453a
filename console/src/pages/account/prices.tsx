import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { useRegionName } from '../../lib/place.ts';
import { given, useFilters } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { DayFilter, Filters } from '../../ui/filters.tsx';
import { Money } from '../../ui/money.tsx';
import { Page } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { startOf } from './audit.tsx';

const PATH = '/tradewind/v1/prices';

/** What things cost in the own account. */
export function Prices() {
  return (
    <Page title="Prices" actions={<AsCode calls={[callOf('get', PATH, {})]} />}>
      <PriceTable />
    </Page>
  );
}

/** The API prices these by the GiB. */
const IN_GIB = /^(volume_types\.|file_share_types\.|image_storage$|log_storage$)/;
/** These have prices of a GB, whatever the time. */
export const isTraffic = (item: string): boolean => item.startsWith('egress_traffic.');
export const unitOf = (item: string): string => (isTraffic(item) ? 'one GB' : IN_GIB.test(item) ? 'one GiB' : 'one');

/** What an account pays, now or at another time. */
export function PriceTable({ clientId }: { clientId?: number }) {
  const { at } = useFilters();
  const params = { query: given({ client_id: clientId, at: startOf(at) }) };
  const read = $api.useQuery('get', PATH, { params });
  const { data } = read;
  const regionName = useRegionName();
  return (
    <>
      <Filters>
        <DayFilter name="at" label="On" />
      </Filters>
      {data && (
        <p className="muted">
          In {data.currency}, with a discount of {data.discount_percent} % and a tax of {data.tax_percent} %.
          {data.trial && ' The account is on trial, and pays nothing.'}
          {!data.visible && ' The account doesn’t see prices.'}
          {data.price_lists.length > 0 && ` Of the price lists ${data.price_lists.join(', ')}.`}
        </p>
      )}
      <Table
        caption="Prices"
        read={{ ...read, data: data?.prices }}
        keyOf={({ region_id, item }) => `${region_id} ${item}`}
        columns={[
          { name: 'Item', show: ({ item }) => <code>{item}</code> },
          { name: 'Of', show: ({ item }) => unitOf(item) },
          { name: 'Region', show: ({ region_id }) => regionName(region_id) },
          {
            name: 'Listed',
            number: true,
            show: ({ listed_per_hour, listed_per_gb }) => (
              <Money amount={listed_per_gb ?? listed_per_hour} currency={data?.currency} />
            ),
          },
          {
            name: 'An hour, or a GB',
            number: true,
            show: ({ per_hour, per_gb }) => <Money amount={per_gb ?? per_hour} currency={data?.currency} />,
          },
          {
            name: 'A month',
            number: true,
            show: ({ item, per_month }) => !isTraffic(item) && <Money amount={per_month} currency={data?.currency} />,
          },
          { name: 'Price list', show: ({ price_list_id }) => price_list_id ?? 'catalogue' },
        ]}
        empty={<p>Nothing has a price.</p>}
      />
    </>
  );
}
