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
import { type Read, Table } from '../../ui/table.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { titleOf } from '../../ui/task.tsx';
import { Time } from '../../ui/time.tsx';
import { ActAs } from './clients.tsx';

type Found = components['schemas']['SearchResults'];
type Task = components['schemas']['ManagedTask'];
type Resource = components['schemas']['ManagedResource'];

const SEARCH = '/tradewind/v1/search';
const TASKS = '/tradewind/v1/tasks';
const TABS = { search: 'Search', tasks: 'Tasks', resources: 'Resources' };

/** For operators: finds what somebody calls about, in all accounts that they manage, and what became of it. */
export function Find() {
  const tab = useTab(TABS);
  return tab === 'tasks' ? <Tasks /> : tab === 'resources' ? <Resources /> : <Everything />;
}

const WITH_PAGES = 'cluster instance load_balancer network security_group volume'.split(' ');
const IN_LISTS = 'file_share floating_ip image router secret snapshot ssh_key'.split(' ');
const OTHERS =
  'cluster_pool ddos_profile l7_policy l7_rule listener load_balancer_member load_balancer_pool placement_group port project snapshot_policy subnet';
const words = (kind: string): string => kind.replaceAll('_', ' ');
const KINDS = [...WITH_PAGES, ...IN_LISTS, ...OTHERS.split(' ')]
  .sort()
  .map((kind) => ({ value: kind, text: words(kind) }));

/** Something that was found, of whichever kind. */
interface Thing {
  kind: string | null;
  id: string | number;
  name: string | null;
  state: string | null;
  time: string | null;
  client_id: number | null;
  region_id?: number | null;
  /** Its page in its account; in one's own, if `mine`. */
  page: string | undefined;
  mine?: boolean;
  /** What its tasks are found by. */
  tasks?: Search;
}

type Placed = Pick<Task, 'project_id' | 'region_id'>;
/** What is in no region is shown in each. */
const pageIn = ({ project_id, region_id }: Placed, path: string): string | undefined =>
  project_id === null ? undefined : `/p/${project_id}/r/${region_id ?? remembered().region}/${path}`;
const taskPage = (id: string | null, place: Placed) => (id === null ? undefined : pageIn(place, `tasks/${id}`));

function resource(one: Resource): Thing {
  const { kind, id, name } = one;
  const list = `${kind.replaceAll('_', '-')}s`;
  // Pages of clusters go by names.
  const own = `${list}/${encodeURIComponent(kind === 'cluster' ? (name ?? '') : id)}`;
  const place = kind === 'project' ? { project_id: Number(id), region_id: null } : one;
  const page = pageIn(place, WITH_PAGES.includes(kind) ? own : IN_LISTS.includes(kind) ? list : '');
  return { ...one, time: one.created_at, page, ...(kind !== 'project' && { tasks: { resource_id: id } }) };
}

/** What was found, by what it is. */
const groupsOf = ({ customers, users, resources, former, addresses, requests }: Found): Record<string, Thing[]> => ({
  Accounts: customers.map(({ id, company, email, status, created_at, deleted_at }) => ({
    kind: 'account',
    id,
    name: `${company} (${email})`,
    client_id: id,
    state: deleted_at ? 'deleted' : status,
    time: created_at,
    page: `/admin/clients/${id}`,
    mine: true,
    tasks: { client_id: String(id) },
  })),
  Users: users.flatMap(({ id, email, client_ids }) =>
    client_ids.map((client_id) => ({
      kind: 'user',
      id,
      name: email,
      client_id,
      state: null,
      time: null,
      page: `/account/users/${id}`,
      mine: true,
      tasks: { client_id: String(client_id) },
    })),
  ),
  Resources: resources.map(resource),
  'Gone, or never came to be': former.map((one) => ({
    ...one,
    state: `after ${one.operation}`,
    time: one.last_seen_at,
    page: taskPage(one.task_id, one),
    ...(one.id !== '' && { tasks: { resource_id: one.id } }),
  })),
  'Who had the address': addresses.map(({ from, to, ...one }) => ({
    ...resource({ ...one, name: null, state: null, created_at: from, task_id: null }),
    state: to === null ? 'has it now' : `until ${clock(to)}`,
  })),
  Requests: requests.map(({ request_id, operation, outcome, status, time, client_id }) => ({
    kind: 'request',
    id: request_id,
    name: `${operation}, answered ${status}`,
    state: outcome,
    time,
    client_id,
    page: `/account/audit?request_id=${request_id}`,
    mine: true,
  })),
});

/** People say when something was by the clock, and not how long ago. */
const clock = (time: string): string => time.slice(0, 16).replace('T', ' ');
const At = ({ time }: { time: string }) => (
  <>
    <time>{clock(time)}</time>
    <div className="muted">
      <Time at={time} />
    </div>
  </>
);

function Where({ of: { client_id, region_id } }: { of: Pick<Thing, 'client_id' | 'region_id'> }) {
  const regionName = useRegionName();
  return (
    <>
      {client_id !== null && (
        <Link to="/admin/clients/$client" params={{ client: String(client_id) }}>
          {client_id}
        </Link>
      )}
      {region_id && <div className="muted nowrap">{regionName(region_id)}</div>}
    </>
  );
}

type Opened = Pick<Thing, 'client_id' | 'page' | 'mine'>;
const useIsMine = ({ client_id, mine }: Opened) => {
  const { clientId } = useWho();
  return mine || client_id === null || client_id === clientId;
};

function Name({ of, children }: { of: Opened; children: ReactNode }) {
  return useIsMine(of) && of.page !== undefined ? <Link to={of.page as '/'}>{children}</Link> : children;
}

function Named({ of, name, id }: { of: Opened; name: ReactNode; id: string | number | null }) {
  const shown = <code className={name ? 'muted' : ''}>{id}</code>;
  if (!name) return <Name of={of}>{shown}</Name>;
  return (
    <>
      <Name of={of}>{name}</Name>
      <br />
      {shown}
    </>
  );
}

/** Pages of other accounts open while one acts for them. */
function Act({ of }: { of: Opened }) {
  const { client_id, page } = of;
  if (useIsMine(of) || client_id === null || page === undefined) return null;
  return <ActAs id={client_id} name={`account ${client_id}`} to={page} says={`Open as account ${client_id}`} />;
}

const tasksBy = (search: Search, text: string) => (
  <Link key={text} to="/admin/find" search={{ tab: 'tasks', ...search } as never}>
    {text}
  </Link>
);

function Things({ caption, read }: { caption: string; read: Read<Thing> }) {
  return (
    <Table
      caption={caption}
      read={read}
      keyOf={({ kind, id, time, client_id }) => `${kind} ${id} ${time} ${client_id}`}
      columns={[
        { name: 'Kind', show: ({ kind }) => kind && words(kind) },
        { name: 'Name', show: (of) => <Named of={of} name={of.name} id={of.id} /> },
        { name: 'State', show: ({ state }) => state && <State of={state} /> },
        { name: 'When (UTC)', show: ({ time }) => time && <At time={time} /> },
        { name: 'Account', show: (of) => <Where of={of} /> },
        {
          name: 'Actions',
          show: (of) => (
            <span className="row nowrap">
              {of.tasks && tasksBy(of.tasks, 'Its tasks')}
              <Act of={of} />
            </span>
          ),
        },
      ]}
      empty={<p>{NOTHING}</p>}
    />
  );
}

const NOTHING = 'Nothing on this page matches the filters. The next page may have more.';

function TaskTable({ caption, read, empty = NOTHING }: { caption: string; read: Read<Task>; empty?: string }) {
  const opened = (task: Task) => ({ ...task, page: taskPage(task.id, task) });
  return (
    <Table
      caption={caption}
      read={read}
      keyOf={({ id }) => id}
      columns={[
        { name: 'Task', show: (task) => <Named of={opened(task)} name={titleOf(task.task_type)} id={task.id} /> },
        { name: 'State', show: ({ state }) => <State of={state} /> },
        { name: 'Error, or what it waits for', show: (task) => <span className="long">{whyOf(task)}</span> },
        { name: 'Accepted (UTC)', show: ({ created_on }) => <At time={created_on} /> },
        { name: 'Account', show: (task) => <Where of={task} /> },
        { name: 'Actions', show: (task) => <Act of={opened(task)} /> },
      ]}
      empty={<p>{empty}</p>}
    />
  );
}

function whyOf({ error, waits_for }: Task): string | null {
  if (error !== null || !waits_for) return error;
  const { kind, doing, state, failures, backend } = waits_for;
  const tries = failures > 0 && `${failures} tries in a row have failed`;
  return [`${words(kind)}: ${doing ?? state}`, backend && `backend ${backend}`, tries].filter(Boolean).join(', ');
}

/** The server takes times with seconds. */
const momentOf = (text: string | undefined) => (text?.length === 16 ? `${text}:00Z` : text);
const commonOf = ({ from, to, page_token }: Search) => ({
  ...given({ from: momentOf(from), to: momentOf(to), page_token }),
  limit: PAGE_SIZE,
});
const LETTERS = 3;
const errorFault = (text = ''): string | undefined =>
  text === '' || text.length >= LETTERS ? undefined : 'Not looked for yet. Give three letters or more.';
const TASK_FILTERS = ['state', 'task_type', 'client_id', 'region_id', 'resource_id'];
const tasksOf = (search: Search) =>
  $api.queryOptions('get', TASKS, {
    params: {
      query: {
        ...only(search, errorFault(search.error) ? TASK_FILTERS : [...TASK_FILTERS, 'error']),
        ...commonOf(search),
      },
    },
  });
const RESOURCE_FILTERS = ['kind', 'name', 'state', 'address', 'client_id', 'region_id'];
const resourcesOf = (search: Search) =>
  $api.queryOptions('get', '/tradewind/v1/resources', {
    params: { query: { ...only(search, RESOURCE_FILTERS), ...commonOf(search) } },
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
      <TaskTable caption="Tasks of all accounts, the newest first" read={read} />
      <NextPages next={read.data?.next_page_token} />
    </Page>
  );
}

function Resources() {
  const { read, call } = useRead(resourcesOf);
  return (
    <Page title="Look up" actions={<AsCode calls={[call]} />}>
      <Tabs tabs={TABS} label="Parts of the page" />
      <Filters>
        <ChoiceFilter name="kind" label="Kind" options={KINDS} />
        <TextFilter name="name" label="Name" placeholder="web-1, or web*" />
        <TextFilter name="state" label="State" placeholder="ERROR" />
        <TextFilter name="address" label="IP address" />
        <CommonFilters />
      </Filters>
      <Things caption="Resources of all accounts" read={{ ...read, data: read.data?.results.map(resource) }} />
      <NextPages next={read.data?.next_page_token} />
    </Page>
  );
}

function Everything() {
  const q = useFilters().q?.trim() ?? '';
  const params = { query: { q } };
  const { data, error, refetch } = $api.useQuery('get', SEARCH, { params }, { enabled: q !== '' });
  const groups = Object.entries(data ? groupsOf(data) : {}).filter(([, things]) => things.length > 0);
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
      {data && groups.length + data.tasks.length === 0 && (
        <p className="card empty">Nothing was found in the accounts that you manage.</p>
      )}
      {data && !data.complete && <p className="note warn">There is more that begins so. Give more of the name.</p>}
      {groups.map(([title, things]) => (
        <Section key={title} title={title}>
          <Things caption={title} read={{ data: things }} />
        </Section>
      ))}
      {data && <Work tasks={data.tasks} things={groups.flatMap(([, things]) => things)} />}
    </Page>
  );
}

const MOST_IDS = 20;
const MOST_ACCOUNTS = 5;
const MOST_TASKS = 10;
const someOf = <Value,>(values: Value[], most: number): Value[] => [...new Set(values)].slice(0, most);

/** What was done with what was found, and what else has failed there: a thing that never came to be may not be known by what one asks for. */
function Work({ tasks, things }: { tasks: readonly Task[]; things: readonly Thing[] }) {
  const ids = someOf(
    things.flatMap(({ tasks }) => tasks?.resource_id ?? []),
    MOST_IDS,
  );
  const accounts = someOf(
    things.flatMap(({ client_id }) => client_id ?? []),
    MOST_ACCOUNTS,
  );
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
  const all = new Map([...tasks, ...(about.data?.results ?? [])].map((task) => [task.id, task]));
  const sorted = [...all.values()].sort((one, other) => (one.created_on < other.created_on ? 1 : -1));
  return (
    <>
      {(sorted.length > 0 || about.error) && (
        <Section title="Tasks about it">
          <TaskTable caption="Tasks about it, the newest first" read={{ ...about, data: sorted }} />
        </Section>
      )}
      {accounts.length > 0 && (
        <Section
          title="What else failed last in its account"
          aside={accounts.map((id) => tasksBy({ client_id: String(id) }, `All tasks of account ${id}`))}
        >
          <TaskTable
            caption="Other failed tasks of its account, the newest first"
            read={{ ...failed, data: failed.data?.results.filter(({ id }) => !all.has(id)) }}
            empty="Nothing else has failed."
          />
        </Section>
      )}
    </>
  );
}
