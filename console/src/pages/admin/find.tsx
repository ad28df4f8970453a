import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { components } from '../../../types/api.d.ts';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { remembered, useRegionName } from '../../lib/place.ts';
import { given, only, type Search, useFilters } from '../../lib/search.ts';
import { useWho } from '../../lib/session.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { optionsOf } from '../../ui/choice.tsx';
import { Unread } from '../../ui/fault.tsx';
import { ChoiceFilter, Filters, TextFilter } from '../../ui/filters.tsx';
import { useRead } from '../../ui/list-page.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { NextPages, PAGE_SIZE } from '../../ui/pages.tsx';
import { State } from '../../ui/state.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { titleOf } from '../../ui/task.tsx';
import { Time } from '../../ui/time.tsx';
import { ActAs } from './clients.tsx';

type Found = components['schemas']['SearchResults'];
type Task = components['schemas']['ManagedTask'];
type Resource = components['schemas']['ManagedResource'];
type Placed = { project_id: number | null; region_id: number | null };

const SEARCH = '/tradewind/v1/search';
const TASKS = '/tradewind/v1/tasks';
const TABS = { search: 'Search', tasks: 'Tasks', resources: 'Resources' };

/** For operators: finds what somebody calls about, in all accounts that they manage, and what became of it. */
export function Find() {
  const tab = useTab(TABS);
  return tab === 'tasks' ? <Tasks /> : tab === 'resources' ? <Resources /> : <Everything />;
}

/** Where things are shown: on pages of their own, or in lists. */
const PAGES = {
  cluster: 'clusters/$name',
  cluster_pool: 'clusters',
  ddos_profile: '',
  file_share: 'file-shares',
  floating_ip: 'floating-ips',
  image: 'images',
  instance: 'instances/$id',
  l7_policy: 'load-balancers',
  l7_rule: 'load-balancers',
  listener: 'load-balancers',
  load_balancer: 'load-balancers/$id',
  load_balancer_member: 'load-balancers',
  load_balancer_pool: 'load-balancers',
  network: 'networks/$id',
  placement_group: '',
  port: 'topology',
  project: '',
  router: 'routers',
  secret: 'secrets',
  security_group: 'security-groups/$id',
  snapshot: 'snapshots',
  snapshot_policy: '',
  ssh_key: 'ssh-keys',
  subnet: 'networks',
  volume: 'volumes/$id',
};
const words = (kind: string | null): string => kind?.replaceAll('_', ' ') ?? '–';

/** What is in no region is shown in each. */
const placeOf = ({ project_id, region_id }: Placed): string | undefined =>
  project_id === null ? undefined : `/p/${project_id}/r/${region_id ?? remembered().region}`;

function pageOf({ kind, id, name, ...where }: Resource): string | undefined {
  const place = placeOf(kind === 'project' ? { project_id: Number(id), region_id: null } : where);
  const page = PAGES[kind as keyof typeof PAGES] ?? '';
  return place && `${place}/${page.replace('$name', encodeURIComponent(name ?? '')).replace('$id', id)}`;
}

const taskPageOf = (id: string | null, where: Placed): string | undefined => {
  const place = placeOf(where);
  return place && id !== null ? `${place}/tasks/${id}` : undefined;
};

interface Opened {
  client: number | null;
  to: string | undefined;
}

/** The name of something, which leads to its page if that is in one's own account. */
function Named({ client, to, children }: Opened & { children: ReactNode }) {
  const { clientId } = useWho();
  return to !== undefined && (client === null || client === clientId) ? (
    <Link to={to as '/'}>{children}</Link>
  ) : (
    children
  );
}

/** Pages of other accounts open while one acts for them. */
function Act({ client, to }: Opened) {
  const { clientId } = useWho();
  if (to === undefined || client === null || client === clientId) return null;
  return <ActAs id={client} name={`account ${client}`} to={to} />;
}

const Account = ({ id }: { id: number | null }) =>
  id === null ? (
    <span className="muted">–</span>
  ) : (
    <Link to="/admin/clients/$client" params={{ client: String(id) }}>
      {id}
    </Link>
  );

const look = (search: Search, text: ReactNode) => (
  <Link to="/admin/find" search={search as never}>
    {text}
  </Link>
);

/** People say when something was by the clock, and not how long ago. */
const At = ({ time }: { time: string | null }) => (
  <>
    <Time at={time} />
    {time && <div className="muted">{time.slice(0, 16).replace('T', ' ')}</div>}
  </>
);

const account: Column<{ client_id: number | null }> = {
  name: 'Account',
  show: ({ client_id }) => <Account id={client_id} />,
};

/** Tasks of several accounts. */
function TaskTable({ caption, read, empty }: { caption: string; read: Read<Task>; empty: string }) {
  const regionName = useRegionName();
  return (
    <Table
      caption={caption}
      read={read}
      keyOf={({ id }) => id}
      columns={[
        {
          name: 'Task',
          show: ({ id, task_type, client_id, ...where }) => (
            <Named client={client_id} to={taskPageOf(id, where)}>
              {titleOf(task_type)}
            </Named>
          ),
        },
        { name: 'State', show: ({ state }) => <State of={state} /> },
        { name: 'Error, or what it waits for', show: (task) => <Why task={task} /> },
        { name: 'Accepted (UTC)', show: ({ created_on }) => <At time={created_on} /> },
        account,
        { name: 'Region', show: ({ region_id }) => (region_id === null ? '–' : regionName(region_id)) },
        {
          name: 'Actions',
          show: ({ id, client_id, ...where }) => <Act client={client_id} to={taskPageOf(id, where)} />,
        },
      ]}
      empty={<p>{empty}</p>}
    />
  );
}

function Why({ task: { error, waits_for } }: { task: Task }) {
  if (error !== null) return <span className="long">{error}</span>;
  if (!waits_for) return null;
  const { kind, doing, failures, backend } = waits_for;
  const tries = failures > 0 ? `, failed ${failures === 1 ? 'once' : `${failures} times`}` : '';
  return (
    <span className="long">
      {words(kind)}: {doing ?? waits_for.state}
      {backend && ` (${backend})`}
      {tries}
    </span>
  );
}

interface Read<Row> {
  data?: { results: readonly Row[] } | undefined;
  error: object | null;
  refetch: () => unknown;
}

function ResourceTable({ caption, read, empty = '' }: { caption: string; read: Read<Resource>; empty?: string }) {
  const regionName = useRegionName();
  return (
    <Table
      caption={caption}
      read={read}
      keyOf={({ kind, id }) => `${kind} ${id}`}
      columns={[
        { name: 'Kind', show: ({ kind }) => words(kind) },
        {
          name: 'Name',
          show: (one) => (
            <Named client={one.client_id} to={pageOf(one)}>
              {one.name ?? <code>{one.id}</code>}
            </Named>
          ),
        },
        { name: 'State', show: ({ state }) => state && <State of={state} /> },
        { name: 'Created (UTC)', show: ({ created_at }) => <At time={created_at} /> },
        account,
        { name: 'Region', show: ({ region_id }) => (region_id === null ? '–' : regionName(region_id)) },
        {
          name: 'Actions',
          show: (one) => (
            <span className="row">
              {look({ tab: 'tasks', resource_id: one.id }, 'Its tasks')}
              <Act client={one.client_id} to={pageOf(one)} />
            </span>
          ),
        },
      ]}
      empty={<p>{empty}</p>}
    />
  );
}

const EMPTY = 'Nothing here is as these filters say. If there is a next page, go on there.';

/** The server takes times with seconds. */
const momentOf = (text: string | undefined): string | undefined => (text?.length === 16 ? `${text}:00Z` : text);
const timesIn = ({ from, to }: Search) => given({ from: momentOf(from), to: momentOf(to) });
const pageIn = ({ page_token }: Search) => ({ limit: PAGE_SIZE, ...given({ page_token }) });

const LETTERS = 3;
const errorFault = (text: string): string | undefined =>
  text === '' || text.length >= LETTERS ? undefined : 'Not looked for yet. Give three letters or more.';
const TASK_FILTERS = ['state', 'task_type', 'client_id', 'region_id', 'resource_id'];
const tasksOf = (search: Search) =>
  $api.queryOptions('get', TASKS, {
    params: {
      query: {
        ...only(search, TASK_FILTERS),
        ...given({ error: errorFault(search.error ?? '') ? undefined : search.error }),
        ...timesIn(search),
        ...pageIn(search),
      },
    },
  });

/** Filters that both lists have. */
function CommonFilters() {
  const { data } = $api.useQuery('get', '/cloud/v1/regions', {});
  const regions = (data?.results ?? []).map(({ id, display_name }) => ({ value: String(id), text: display_name }));
  return (
    <>
      <TextFilter name="client_id" label="Account ID" />
      <ChoiceFilter name="region_id" label="Region" options={regions} />
      <TextFilter name="from" label="From (UTC)" type="datetime-local" />
      <TextFilter name="to" label="Before (UTC)" type="datetime-local" />
    </>
  );
}

function Tasks() {
  const { read, call } = useRead(tasksOf);
  return (
    <Page title="Look up" actions={<AsCode calls={[call]} />}>
      <Tabs tabs={TABS} label="Parts of the page" />
      <Filters>
        <ChoiceFilter name="state" label="State" options={optionsOf(['NEW', 'RUNNING', 'FINISHED', 'ERROR'])} />
        <TextFilter name="task_type" label="Exact type" placeholder="create_vm" />
        <TextFilter name="error" label="Error has" fault={errorFault} />
        <TextFilter name="resource_id" label="About the ID" />
        <CommonFilters />
      </Filters>
      <TaskTable caption="Tasks of all accounts, the newest first" read={read} empty={EMPTY} />
      <NextPages next={read.data?.next_page_token} />
    </Page>
  );
}

const RESOURCE_FILTERS = ['kind', 'name', 'state', 'address', 'client_id', 'region_id'];
const resourcesOf = (search: Search) =>
  $api.queryOptions('get', '/tradewind/v1/resources', {
    params: { query: { ...only(search, RESOURCE_FILTERS), ...timesIn(search), ...pageIn(search) } },
  });

function Resources() {
  const { read, call } = useRead(resourcesOf);
  const kinds = Object.keys(PAGES).map((kind) => ({ value: kind, text: words(kind) }));
  return (
    <Page title="Look up" actions={<AsCode calls={[call]} />}>
      <Tabs tabs={TABS} label="Parts of the page" />
      <Filters>
        <ChoiceFilter name="kind" label="Kind" options={kinds} />
        <TextFilter name="name" label="Name" placeholder="web-1, or web*" />
        <TextFilter name="state" label="State" placeholder="ERROR" />
        <TextFilter name="address" label="IP address" />
        <CommonFilters />
      </Filters>
      <ResourceTable caption="Resources of all accounts" read={read} empty={EMPTY} />
      <NextPages next={read.data?.next_page_token} />
    </Page>
  );
}

const MOST_IDS = 20;
const MOST_TASKS = 10;
const MOST_ACCOUNTS = 5;
/** A project has tasks of everything in it, and its ID is a number that other things have, too. */
const idsIn = ({ resources = [], former = [], addresses = [] }: Partial<Found>): string[] =>
  [
    ...new Set(
      [...resources, ...former, ...addresses].flatMap(({ kind, id }) => (kind === 'project' || id === '' ? [] : [id])),
    ),
  ].slice(0, MOST_IDS);

/** Those of whatever was found: a thing that never came to be may not be known by what one asks for. */
const accountsIn = ({ resources = [], former = [], addresses = [], customers = [], users = [] }: Partial<Found>) =>
  [
    ...new Set([
      ...customers.map(({ id }) => id),
      ...users.flatMap(({ client_ids }) => client_ids),
      ...[...resources, ...former, ...addresses].flatMap(({ client_id }) => client_id ?? []),
    ]),
  ].slice(0, MOST_ACCOUNTS);

function Everything() {
  const q = useFilters().q?.trim() ?? '';
  const params = { query: { q } };
  const { data, error, refetch } = $api.useQuery('get', SEARCH, { params }, { enabled: q !== '' });
  const isEmpty = data && Object.values(data).every((of) => !Array.isArray(of) || of.length === 0);
  return (
    <Page title="Look up" actions={q !== '' && <AsCode calls={[callOf('get', SEARCH, { params })]} />}>
      <Tabs tabs={TABS} label="Parts of the page" />
      <search>
        <TextFilter
          name="q"
          label="What somebody calls about"
          placeholder="web-1, 203.0.113.7, an ID, info@example.com"
        />
      </search>
      {q === '' && (
        <p className="muted">
          An ID of anything, of a task or of a request; an IP address; or how a name, a company or an e-mail address
          begins. What is gone is found, too.
        </p>
      )}
      {q !== '' && !data && <Unread error={error} again={refetch} />}
      {isEmpty && <p className="card empty">Nothing was found in the accounts that you manage.</p>}
      {data && !data.complete && <p className="note warn">There is more that begins so. Give more of the name.</p>}
      {data && (
        <>
          <People found={data} />
          {data.resources.length > 0 && (
            <Section title="Resources">
              <ResourceTable caption="Resources" read={{ data: { results: data.resources }, error, refetch }} />
            </Section>
          )}
          <Past found={data} />
          <Work found={data} />
          {data.requests.length > 0 && <Requests of={data.requests} />}
        </>
      )}
    </Page>
  );
}

/** What was done with what was found, and what else has failed there. */
function Work({ found }: { found: Found }) {
  const [ids, accounts] = [idsIn(found), accountsIn(found)];
  const about = $api.useQuery(
    'get',
    TASKS,
    { params: { query: { resource_id: ids, limit: MOST_TASKS } } },
    { enabled: ids.length > 0 },
  );
  const failed = $api.useQuery(
    'get',
    TASKS,
    { params: { query: { client_id: accounts, state: ['ERROR'], limit: MOST_TASKS } } },
    { enabled: accounts.length > 0 },
  );
  const tasks = new Map([...found.tasks, ...(about.data?.results ?? [])].map((task) => [task.id, task]));
  const results = [...tasks.values()].sort((one, other) => (one.created_on < other.created_on ? 1 : -1));
  return (
    <>
      {(results.length > 0 || about.error) && (
        <Section title="Tasks about it">
          <TaskTable caption="Tasks about it, the newest first" read={{ ...about, data: { results } }} empty="None." />
        </Section>
      )}
      {accounts.length > 0 && (
        <Section
          title="What failed last in its account"
          aside={accounts.map((id) => (
            <span key={id}>{look({ tab: 'tasks', client_id: String(id) }, `All tasks of account ${id}`)}</span>
          ))}
        >
          <TaskTable
            caption="Failed tasks of its account, the newest first"
            read={failed}
            empty="Nothing has failed."
          />
        </Section>
      )}
    </>
  );
}

function People({ found: { customers, users } }: { found: Found }) {
  return (
    <>
      {customers.length > 0 && (
        <Section title="Accounts">
          <Table
            caption="Accounts"
            read={{ data: customers }}
            keyOf={({ id }) => id}
            columns={[
              {
                name: 'Company',
                show: ({ id, company }) => (
                  <Link to="/admin/clients/$client" params={{ client: String(id) }}>
                    {company}
                  </Link>
                ),
              },
              { name: 'ID', show: ({ id, custom_id }) => [id, custom_id].filter((one) => one !== null).join(', ') },
              { name: 'E-mail address', show: ({ email }) => email },
              { name: 'Status', show: ({ status, deleted_at }) => <State of={deleted_at ? 'deleted' : status} /> },
              {
                name: 'Actions',
                show: ({ id, deleted_at }) => (
                  <span className="row">
                    {look({ tab: 'tasks', client_id: String(id) }, 'Its tasks')}
                    {look({ tab: 'resources', client_id: String(id) }, 'Its resources')}
                    <Act client={id} to={deleted_at ? undefined : '/'} />
                  </span>
                ),
              },
            ]}
            empty={null}
          />
        </Section>
      )}
      {users.length > 0 && (
        <Section title="Users">
          <Table
            caption="Users"
            read={{ data: users }}
            keyOf={({ id }) => id}
            columns={[
              {
                name: 'E-mail address',
                show: ({ id, email }) => (
                  <Link to="/account/users/$user" params={{ user: String(id) }}>
                    {email}
                  </Link>
                ),
              },
              { name: 'ID', show: ({ id }) => id },
              {
                name: 'Accounts',
                show: ({ client_ids }) => (
                  <span className="row">
                    {client_ids.map((id) => (
                      <Account key={id} id={id} />
                    ))}
                  </span>
                ),
              },
            ]}
            empty={null}
          />
        </Section>
      )}
    </>
  );
}

/** What was there, and who had an address. */
function Past({ found: { former, addresses } }: { found: Found }) {
  return (
    <>
      {former.length > 0 && (
        <Section title="Gone, or never came to be">
          <Table
            caption="What is gone, or never came to be"
            read={{ data: former }}
            keyOf={({ kind, id, last_seen_at }) => `${kind} ${id} ${last_seen_at}`}
            columns={[
              { name: 'Kind', show: ({ kind }) => words(kind) },
              {
                name: 'Name',
                show: ({ id, name, client_id, task_id, ...where }) => (
                  <Named client={client_id} to={taskPageOf(task_id, where)}>
                    {name ?? <code>{id}</code>}
                  </Named>
                ),
              },
              { name: 'Last request', show: ({ operation }) => operation },
              { name: 'When (UTC)', show: ({ last_seen_at }) => <At time={last_seen_at} /> },
              account,
              {
                name: 'Actions',
                show: ({ id, client_id, task_id, ...where }) => (
                  <span className="row">
                    {id && look({ tab: 'tasks', resource_id: id }, 'Its tasks')}
                    <Act client={client_id} to={taskPageOf(task_id, where)} />
                  </span>
                ),
              },
            ]}
            empty={null}
          />
        </Section>
      )}
      {addresses.length > 0 && (
        <Section title="Who had the address">
          <Table
            caption="Who had the address, the last first"
            read={{ data: addresses }}
            keyOf={({ id, from }) => `${id} ${from}`}
            columns={[
              { name: 'What', show: ({ kind }) => words(kind) },
              { name: 'ID', show: ({ id }) => look({ q: id }, <code>{id}</code>) },
              { name: 'From (UTC)', show: ({ from }) => <At time={from} /> },
              { name: 'Until (UTC)', show: ({ to }) => (to === null ? 'now' : <At time={to} />) },
              account,
            ]}
            empty={null}
          />
        </Section>
      )}
    </>
  );
}

function Requests({ of }: { of: Found['requests'] }) {
  return (
    <Section title="Requests">
      <Table
        caption="Requests"
        read={{ data: of }}
        keyOf={({ request_id, time }) => `${request_id} ${time}`}
        columns={[
          {
            name: 'Operation',
            show: ({ operation, time }) => (
              <Link
                to="/account/audit"
                search={{ from: time, to: new Date(Date.parse(time) + 1_000).toISOString() } as never}
              >
                {operation}
              </Link>
            ),
          },
          {
            name: 'Outcome',
            show: ({ outcome, status }) => (
              <>
                <State of={outcome} /> {status}
              </>
            ),
          },
          { name: 'When (UTC)', show: ({ time }) => <At time={time} /> },
          account,
        ]}
        empty={null}
      />
    </Section>
  );
}
