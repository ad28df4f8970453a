import { Link } from '@tanstack/react-router';
import { $api, OFTEN } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { useRegionName } from '../../lib/place.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { State } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { titleOf } from '../../ui/task.tsx';
import { Time } from '../../ui/time.tsx';

const PROCESSES = '/tradewind/v1/platform/processes';
const QUEUES = '/tradewind/v1/platform/queues';
const BACKLOG = '/tradewind/v1/platform/backlog';
const ADDRESSES = '/tradewind/v1/platform/external_addresses';
const CHECKS = '/tradewind/v1/platform/checks';
const ORPHANS = '/tradewind/v1/platform/orphans';
const REMOVE = 'npx tradewind orphans remove --yes';

const WORK = {
  tasks: 'Tasks',
  infrastructure: 'Changes of infrastructure',
  ai_tasks: 'AI tasks',
  deletions: 'Deletions of projects and accounts',
  waiting_deletions: 'Deletions that wait for others',
  mails: 'Mails',
  webhook_deliveries: 'Webhook deliveries',
};
const ORDER = ['missing', 'limited', 'ok'];

/** For the administrator of the platform: how Tradewind itself is. */
export function PlatformPage() {
  return (
    <Page
      title="Platform"
      actions={
        <AsCode
          calls={[
            callOf('get', PROCESSES, {}),
            callOf('get', QUEUES, {}),
            callOf('get', BACKLOG, {}),
            callOf('get', ADDRESSES, {}),
            callOf('get', CHECKS, {}),
            callOf('get', ORPHANS, {}),
          ]}
        />
      }
    >
      <Processes />
      <Queues />
      <Backlog />
      <Addresses />
      <Checks />
      <Orphans />
    </Page>
  );
}

function Processes() {
  const read = $api.useQuery('get', PROCESSES, {}, OFTEN);
  return (
    <Section title="Processes">
      <Table
        caption="Processes that are alive"
        read={read}
        keyOf={({ host, pid, worker_id }) => `${host} ${pid} ${worker_id}`}
        columns={[
          {
            name: 'Process',
            show: ({ host, pid, version }) => (
              <>
                {host} <code>{pid}</code> {version && <span className="muted">answers you, {version}</span>}
              </>
            ),
          },
          {
            name: 'Takes work',
            show: ({ worker_id, started_at }) =>
              worker_id === null ? (
                'no'
              ) : (
                <>
                  since <Time at={started_at} />
                </>
              ),
          },
          { name: 'AI tasks', show: ({ ai_kinds }) => ai_kinds.join(', ') || <span className="muted">none</span> },
          {
            name: 'Works on',
            show: ({ holds }) =>
              holds.map(({ queue, count }) => `${WORK[queue]}: ${count}`).join(', ') || (
                <span className="muted">nothing</span>
              ),
          },
          { name: 'Last sign of life', show: ({ seen_at }) => <Time at={seen_at} /> },
          {
            name: 'Catalogue',
            show: ({ catalog_problem }) =>
              catalog_problem === null ? 'in force' : <span className="badge bad">older: {catalog_problem}</span>,
          },
        ]}
        empty={<p>None.</p>}
      />
    </Section>
  );
}

const counted = (number: number | null) => number ?? <span className="muted">–</span>;

function Queues() {
  const read = $api.useQuery('get', QUEUES, {}, OFTEN);
  return (
    <Section title="Queues">
      <Table
        caption="Work of all accounts"
        read={read}
        keyOf={({ queue }) => queue}
        columns={[
          { name: 'Work', show: ({ queue }) => WORK[queue] },
          { name: 'Waiting', number: true, show: ({ waiting }) => waiting },
          { name: 'Oldest waits since', show: ({ oldest_waiting_since }) => <Time at={oldest_waiting_since} /> },
          { name: 'Running', number: true, show: ({ running }) => running },
          { name: 'Failing', number: true, show: ({ failing }) => counted(failing) },
          {
            name: 'Failed in the last hour',
            number: true,
            show: ({ failed_last_hour }) => counted(failed_last_hour),
          },
          {
            name: 'Kinds',
            show: ({ kinds }) =>
              kinds.length > 0 && (
                <details>
                  <summary>{kinds.length}</summary>
                  <ul>
                    {kinds.map(({ kind, waiting, running, failing, failed_last_hour }) => (
                      <li key={kind}>
                        <code>{kind}</code>{' '}
                        {Object.entries({ waiting, running, failing, failed: failed_last_hour })
                          .flatMap(([word, number]) => (number ? [`${number} ${word}`] : []))
                          .join(', ')}
                      </li>
                    ))}
                  </ul>
                </details>
              ),
          },
        ]}
        empty={<p>None.</p>}
      />
    </Section>
  );
}

function Backlog() {
  const read = $api.useQuery('get', BACKLOG, {}, OFTEN);
  const regionName = useRegionName();
  return (
    <Section title="Backlog">
      <Table
        caption="Infrastructure that is not as wanted yet"
        read={read}
        keyOf={({ region_id, backend, kind }) => `${region_id} ${backend} ${kind}`}
        columns={[
          { name: 'Region', show: ({ region_id }) => regionName(region_id) },
          { name: 'Backend', show: ({ backend }) => backend ?? <span className="badge bad">none any more</span> },
          { name: 'Kind', show: ({ kind }) => kind },
          { name: 'Waiting', number: true, show: ({ waiting }) => waiting },
          { name: 'Running', number: true, show: ({ running }) => running },
          { name: 'Failing', number: true, show: ({ failing }) => failing },
          { name: 'Most tries failed', number: true, show: ({ most_failures }) => most_failures },
          { name: 'Oldest waits since', show: ({ oldest_due_since }) => <Time at={oldest_due_since} /> },
        ]}
        empty={<p>Everything is as wanted.</p>}
      />
      {read.data && read.data.oldest_tasks.length > 0 && (
        <>
          <p className="inside">The oldest task of each region that has not ended:</p>
          <Table
            caption="The oldest task of each region that has not ended"
            read={{ data: read.data.oldest_tasks }}
            keyOf={({ task_id }) => task_id}
            columns={[
              { name: 'Region', show: ({ region_id }) => (region_id === null ? 'none' : regionName(region_id)) },
              {
                name: 'Task',
                show: ({ task_id, task_type }) => (
                  <Link to="/admin/find" search={{ q: task_id } as never}>
                    {titleOf(task_type)}
                  </Link>
                ),
              },
              { name: 'Account', show: ({ client_id }) => client_id },
              { name: 'State', show: ({ state }) => <State of={state} /> },
              { name: 'Accepted', show: ({ created_on }) => <Time at={created_on} /> },
            ]}
            empty={null}
          />
        </>
      )}
    </Section>
  );
}

/** Below this share, IPv4 addresses soon run out. */
const FEW = 0.05;
const sum = (numbers: readonly (number | null)[]): number | null =>
  numbers.includes(null) ? null : numbers.reduce<number>((all, one) => all + (one ?? 0), 0);
const plenty = (number: number | null) => number ?? <span className="muted">plenty</span>;

/** When one prefix is full, the next is used: what counts is what they have together. */
function Addresses() {
  const read = $api.useQuery('get', ADDRESSES, {}, OFTEN);
  const regionName = useRegionName();
  const families = Object.values(
    Object.groupBy(read.data?.results ?? [], ({ region_id, ip_version }) => `${region_id} ${ip_version}`),
  ).flatMap((prefixes = []) => {
    const [first] = prefixes;
    const counted = (name: 'free' | 'in_use' | 'total') => sum(prefixes.map((prefix) => prefix[name]));
    return first
      ? [{ ...first, prefixes, free: counted('free'), in_use: counted('in_use'), total: counted('total') }]
      : [];
  });
  return (
    <Section title="Public addresses">
      <Table
        caption="Public addresses that are left"
        read={{ ...read, data: read.data && families }}
        keyOf={({ region_id, ip_version }) => `${region_id} ${ip_version}`}
        columns={[
          { name: 'Region', show: ({ region_id }) => regionName(region_id) },
          { name: 'Family', show: ({ ip_version }) => `IPv${ip_version}` },
          { name: 'Free', number: true, show: ({ free }) => plenty(free) },
          { name: 'In use', number: true, show: ({ in_use }) => in_use },
          { name: 'All', number: true, show: ({ total }) => plenty(total) },
          {
            name: 'Prefixes',
            show: ({ prefixes, free, total }) => (
              <span className="row">
                {prefixes.map(({ subnet_id, cidr }) => (
                  <code key={subnet_id}>{cidr}</code>
                ))}
                {free !== null && total !== null && free < total * FEW && <span className="badge warn">few left</span>}
              </span>
            ),
          },
        ]}
        empty={<p>No region has an external network.</p>}
      />
    </Section>
  );
}

/** The server looks again at most every half minute. */
const LookedAt = ({ at }: { at: string | undefined }) =>
  at && (
    <span className="muted">
      looked at <Time at={at} />
    </span>
  );

function Checks() {
  const read = $api.useQuery('get', CHECKS, {}, OFTEN);
  const results = read.data?.results.toSorted((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state));
  return (
    <Section title="Checks" aside={<LookedAt at={read.data?.checked_at} />}>
      <p className="inside">What the process that answers you finds, as in “tradewind doctor”.</p>
      <Table
        caption="Checks, what is missing first"
        read={{ ...read, data: results }}
        keyOf={({ name }) => name}
        columns={[
          { name: 'What', show: ({ name }) => name },
          { name: 'State', show: ({ state }) => <State of={state} /> },
          { name: 'Found, and what to do', show: ({ detail }) => detail },
        ]}
        empty={<p>None.</p>}
      />
    </Section>
  );
}

function Orphans() {
  const read = $api.useQuery('get', ORPHANS, {}, OFTEN);
  const { count = 0, results = [], problems = [] } = read.data ?? {};
  return (
    <Section title="Orphans" aside={<LookedAt at={read.data?.checked_at} />}>
      {problems.map(({ backend, problem }) => (
        <p key={backend} className="note bad">
          The backend {backend} could not list what it has: {problem}
        </p>
      ))}
      <Table
        caption="Infrastructure that nobody wants"
        read={read}
        keyOf={({ backend, kind, id }) => `${backend} ${kind} ${id}`}
        columns={[
          { name: 'Backend', show: ({ backend }) => backend },
          { name: 'Kind', show: ({ kind }) => kind },
          { name: 'ID', show: ({ id }) => <code>{id}</code> },
          { name: 'Name there', show: ({ handle }) => handle && <code>{handle}</code> },
        ]}
        empty={<p>None.</p>}
      />
      {count > results.length && <p className="inside muted">These are the first of {count}.</p>}
      {count > 0 && (
        <p className="inside">
          On the server, this removes them: <code>{REMOVE}</code> <Copy text={REMOVE} label="Copy the command" />
        </p>
      )}
    </Section>
  );
}
