import { $api } from '../../lib/api.ts';
import { useRegionName } from '../../lib/place.ts';
import { Money } from '../../ui/money.tsx';
import { Section } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';

const useRunning = (clientId: number) =>
  $api.useQuery('get', '/tradewind/v1/clients/{client_id}/running_costs', {
    params: { path: { client_id: clientId } },
  });

/** What an account has now, and what it costs. */
export function RunningCosts({ clientId }: { clientId: number }) {
  const regionName = useRegionName();
  const read = useRunning(clientId);
  const currency = read.data?.currency;
  return (
    <Section
      title="What it has now"
      aside={
        <span className="muted">
          <Money amount={read.data?.price_per_month} currency={currency} /> a month, also while it is suspended.
        </span>
      }
    >
      <Table
        caption="What the client has now"
        read={{ ...read, data: read.data?.lines }}
        keyOf={({ region_id, type, kind }) => [region_id, type, kind].join(' ')}
        columns={[
          { name: 'Region', show: ({ region_id }) => regionName(region_id) },
          { name: 'Type', show: ({ type }) => type.replaceAll('_', ' ') },
          { name: 'Kind', show: ({ kind }) => kind },
          { name: 'Count', number: true, show: ({ count }) => count },
          { name: 'On', number: true, show: ({ machines_on }) => machines_on ?? '–' },
          {
            name: 'A month',
            number: true,
            show: ({ price_per_month, err }) => err ?? <Money amount={price_per_month} currency={currency} />,
          },
        ]}
        empty={<p>It has nothing that costs.</p>}
      />
    </Section>
  );
}

/** What becomes of the machines of an account that is suspended. */
export function WhenSuspended({ clientId }: { clientId: number }) {
  const { data } = useRunning(clientId);
  if (!data) return null;
  const sum = (of: 'machines_on' | 'stops_on_suspension') =>
    data.lines.reduce((total, line) => total + (line[of] ?? 0), 0);
  const stops = data.suspension_stops_machines ? sum('stops_on_suspension') : 0;
  return (
    <p>
      Machines that stop: {stops}. Machines that run on: {sum('machines_on') - stops}. Everything the client has costs{' '}
      <Money amount={data.price_per_month} currency={data.currency} /> a month, also what stops.
    </p>
  );
}
