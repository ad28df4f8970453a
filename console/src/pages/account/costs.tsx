import { Link } from '@tanstack/react-router';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { serverNow } from '../../lib/hub.ts';
import { useRegionName } from '../../lib/place.ts';
import { given, useFilters, useSetFilters } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Bars } from '../../ui/bars.tsx';
import { Export } from '../../ui/export.tsx';
import { ChoiceFilter, DayFilter, Filters } from '../../ui/filters.tsx';
import { Money, moneyOf } from '../../ui/money.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { NextPages, PAGE_SIZE } from '../../ui/pages.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { startOf } from './audit.tsx';

const TABS = { costs: 'Costs', usage: 'Usage' };
const TYPES = [
  'baremetal',
  'egress_traffic',
  'external_ip',
  'file_share',
  'floatingip',
  'image',
  'instance',
  'load_balancer',
  'log_index',
  'snapshot',
  'volume',
] as const;
const GROUPS = { day: 'day', project: 'project', resource: 'resource', client: 'account' } as const;
type Group = keyof typeof GROUPS;
/** The most lines that the API gives at once. */
const MOST = 1_000;
const DAY_MS = 24 * 3_600_000;

/** What was used in a period and what that costs, with lines of its own for what is asked for. */
export function Costs() {
  const tab = useTab(TABS);
  const regionName = useRegionName();
  const { from, to, type, page_token, by: asked = '' } = useFilters();
  const by = (Object.keys(GROUPS) as Group[]).filter((one) => asked.split(',').includes(one));
  const period = given({
    from: startOf(from),
    to: startOf(to),
    type: TYPES.filter((one) => one === type),
  });
  const query = { ...period, by };
  const params = { query: { ...query, limit: PAGE_SIZE, ...given({ page_token }) } };
  const path = tab === 'costs' ? '/tradewind/v1/costs' : '/tradewind/v1/usage';
  const read = $api.useQuery('get', path, { params });
  // The other form is for exports.
  const data = read.data as Exclude<typeof read.data, string>;
  const written = callOf('get', path, { params });
  const everything = callOf('get', path, { params: { query } });
  const columns: Column<Line>[] = [
    ...(by.includes('day') ? [{ name: 'Day', show: ({ day }: Line) => day }] : []),
    ...(by.includes('client') ? [{ name: 'Account', show: ({ client_id }: Line) => client_id }] : []),
    ...(by.includes('project') || by.includes('resource')
      ? [{ name: 'Project', show: ({ project_id }: Line) => project_id ?? '–' }]
      : []),
    ...(by.includes('resource')
      ? [{ name: 'Resource', show: ({ name, resource_id }: Line) => name ?? <code>{resource_id}</code> }]
      : []),
    { name: 'Region', show: ({ region_id }) => regionName(region_id) },
    { name: 'Type', show: ({ type }) => type.replaceAll('_', ' ') },
    { name: 'Kind', show: ({ kind }) => kind },
    { name: 'Used', number: true, show: ({ quantity, unit }) => amountOf(quantity, unit) },
    ...(tab === 'costs'
      ? [
          {
            name: 'Cost',
            number: true,
            show: ({ cost, currency, err }: Line) => err ?? <Money amount={cost} currency={currency} />,
          },
        ]
      : []),
  ];
  return (
    <Page
      title="Usage and costs"
      actions={
        <>
          <Export
            operation={tab === 'costs' ? 'listCosts' : 'listUsage'}
            path={everything.path}
            accept="text/csv"
            file={`${tab}.csv`}
          >
            Export as CSV
          </Export>
          <AsCode calls={[written, { ...everything, headers: { Accept: 'text/csv' } }]} />
        </>
      }
    >
      <Tabs tabs={TABS} label="Parts of the page" />
      <Filters>
        <DayFilter name="from" label="From" />
        <DayFilter name="to" label="Before" />
        <ChoiceFilter
          name="type"
          label="Type"
          options={TYPES.map((one) => ({ value: one, text: one.replaceAll('_', ' ') }))}
        />
      </Filters>
      <Grouping by={by} />
      <p className="muted">
        {from ? `From ${from}` : 'From the beginning of the month'} {to ? `to before ${to}` : 'until now'}, in UTC.{' '}
        <Link to="/account/prices">What each thing costs</Link>
      </p>
      <Chart tab={tab} period={period} from={from} to={to} />
      <Table
        caption={tab === 'costs' ? 'Costs' : 'Usage'}
        read={{ ...read, data: data?.lines }}
        keyOf={(line) =>
          [line.day, line.client_id, line.project_id, line.resource_id, line.region_id, line.type, line.kind].join(' ')
        }
        columns={columns}
        empty={<p>Nothing was used in this time.</p>}
      />
      <NextPages next={data?.next_page_token} />
    </Page>
  );
}

interface Line {
  client_id: number;
  project_id: number | null;
  resource_id: string | null;
  name: string | null;
  day: string | null;
  region_id: number;
  type: string;
  kind: string;
  quantity: number;
  unit: string;
  cost?: number | null;
  currency?: string | null;
  err?: string | null;
}

const FIGURE = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
const GB = 1_000_000_000;
export function amountOf(quantity: number, unit: string): string {
  if (unit === 'bytes') return `${FIGURE.format(quantity / GB)} GB`;
  return `${FIGURE.format(quantity / 3_600)} ${unit === 'seconds' ? 'h' : 'GiB h'}`;
}

function Grouping({ by }: { by: readonly Group[] }) {
  const change = useSetFilters();
  return (
    <fieldset className="row">
      <legend className="hidden">Lines of their own</legend>
      <span className="muted" aria-hidden>
        By
      </span>
      {(Object.entries(GROUPS) as [Group, string][]).map(([group, text]) => (
        <label key={group}>
          <input
            type="checkbox"
            checked={by.includes(group)}
            onChange={({ target }) =>
              change({ by: (target.checked ? [...by, group] : by.filter((one) => one !== group)).join(',') })
            }
          />{' '}
          {text}
        </label>
      ))}
    </fieldset>
  );
}

/** The days of a period, at most a month of them. */
function daysOf(from: string | undefined, to: string | undefined): string[] {
  const now = new Date(serverNow());
  const first = from ? Date.parse(from) : Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
  const end = Math.min(to ? Date.parse(to) : Number.POSITIVE_INFINITY, now.getTime());
  const count = Math.min(31, Math.max(0, Math.ceil((end - first) / DAY_MS)));
  return Array.from({ length: count }, (_, at) => new Date(first + at * DAY_MS).toISOString().slice(0, 10));
}

function Chart({
  tab,
  period,
  from,
  to,
}: {
  tab: keyof typeof TABS;
  period: { type?: (typeof TYPES)[number][]; from?: string; to?: string };
  from: string | undefined;
  to: string | undefined;
}) {
  const path = tab === 'costs' ? '/tradewind/v1/costs' : '/tradewind/v1/usage';
  const read = $api.useQuery('get', path, { params: { query: { ...period, by: ['day'], limit: MOST } } });
  const data = read.data as Exclude<typeof read.data, string>;
  const lines: readonly Line[] = data?.lines ?? [];
  const [first] = lines;
  if (!first) return null;
  const unit = ({ currency, unit }: Line) => (tab === 'costs' ? (currency ?? '') : unit);
  const same = lines.every((one) => unit(one) === unit(first));
  if (!same || data?.next_page_token)
    return (
      <p className="muted">
        {same
          ? 'There is too much for a chart: choose a type of resource or a shorter time.'
          : 'A chart shows one unit: choose a type of resource.'}
      </p>
    );
  const numberOf = ({ cost, quantity }: Line) => (tab === 'costs' ? (cost ?? 0) : quantity);
  const bars = daysOf(from, to).map((day) => ({
    name: day,
    value: lines.filter((line) => line.day === day).reduce((sum, line) => sum + numberOf(line), 0),
  }));
  const format = (value: number) => (tab === 'costs' ? moneyOf(value, first.currency) : amountOf(value, first.unit));
  return (
    <Section
      title={tab === 'costs' ? 'Costs by day' : 'Usage by day'}
      aside={<strong>{format(lines.reduce((sum, line) => sum + numberOf(line), 0))} in all</strong>}
    >
      <div className="inside">
        <Bars bars={bars} label={tab === 'costs' ? 'Costs by day' : 'Usage by day'} format={format} />
        <details>
          <summary>As a table</summary>
          <Table
            caption={tab === 'costs' ? 'Costs by day' : 'Usage by day'}
            read={{ data: bars }}
            keyOf={({ name }) => name}
            columns={[
              { name: 'Day', show: ({ name }) => name },
              {
                name: tab === 'costs' ? 'Cost' : 'Used',
                number: true,
                show: ({ value }) => <span className="number">{format(value)}</span>,
              },
            ]}
            empty={<p>Nothing was used in this time.</p>}
          />
        </details>
      </div>
    </Section>
  );
}
