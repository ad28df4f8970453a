import { Link } from '@tanstack/react-router';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { serverNow } from '../../lib/hub.ts';
import { useRefusal } from '../../lib/permissions.ts';
import { useNearestPlace } from '../../lib/place.ts';
import { given, type Search, useFilters, useSetFilters } from '../../lib/search.ts';
import { useWho } from '../../lib/session.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { optionsOf } from '../../ui/choice.tsx';
import { Export } from '../../ui/export.tsx';
import { ChoiceFilter, DayFilter, Filters, TextFilter } from '../../ui/filters.tsx';
import { ListPage, useRead } from '../../ui/list-page.tsx';
import { Page } from '../../ui/page.tsx';
import { NextPages, PAGE_SIZE, pagingOf } from '../../ui/pages.tsx';
import { Table } from '../../ui/table.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';

const TABS = { requests: 'All requests', resources: 'Changes of resources' };
/** Enough to choose from; where there are more, one gives an ID. */
const MOST_USERS = 1_000;
const OUTCOMES = ['accepted', 'refused', 'failed'] as const;
const LOOKS = { accepted: 'good', refused: 'warn', failed: 'bad' };

/** Who did what, from where, and what became of it. */
export function Audit() {
  return useTab(TABS) === 'requests' ? <Requests /> : <Changes />;
}

Audit.reads = (search: Search) => (search.tab === 'resources' ? changesOf(search) : requestsOf(search));

const requestsOf = (search: Search) =>
  $api.queryOptions('get', '/tradewind/v1/audit', {
    params: { query: { ...queryOf(search), limit: PAGE_SIZE, ...given({ page_token: search.page_token }) } },
  });

/** The beginning of a day, as the API writes times, or a time as it is. */
export const startOf = (day: string | undefined): string | undefined =>
  day?.includes('T') ? day : day && `${day}T00:00:00Z`;
const whole = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
const listOf = <Value,>(value: Value | undefined): Value[] | undefined => (value === undefined ? undefined : [value]);

const TYPE = /^tradewind\.(\*|[a-z0-9_]+\.(\*|[a-z0-9_]+))$/;
const typeFault = (text: string): string | undefined =>
  text === '' || TYPE.test(text)
    ? undefined
    : 'Not looked for yet. Types are like tradewind.volume.deleted or tradewind.volume.*';

const queryOf = ({ type, subject, outcome, user, token, project, address, request_id, from, to }: Search) =>
  given({
    type: type && TYPE.test(type) ? [type] : undefined,
    subject: subject ? [subject] : undefined,
    outcome: listOf(OUTCOMES.find((one) => one === outcome)),
    user_id: listOf(whole(user)),
    token_id: listOf(whole(token)),
    project_id: listOf(whole(project)),
    address: address ? [address] : undefined,
    request_id: request_id ? [request_id] : undefined,
    from: startOf(from),
    to: startOf(to),
  });

function Requests() {
  const { read, call, filters } = useRead(requestsOf);
  const place = useNearestPlace();
  // The other form is for exports.
  const data = read.data as Exclude<typeof read.data, string>;
  const everything = callOf('get', '/tradewind/v1/audit', { params: { query: queryOf(filters) } });
  return (
    <Page
      title="Audit"
      actions={
        <>
          <Export operation="listAuditRecords" path={everything.path} accept="application/x-ndjson" file="audit.ndjson">
            Export as NDJSON
          </Export>
          <AsCode calls={[call, { ...everything, headers: { Accept: 'application/x-ndjson' } }]} />
        </>
      }
    >
      <Tabs tabs={TABS} label="Parts of the page" />
      <Presets mine />
      <Filters>
        <TextFilter name="type" label="Type of event" placeholder="tradewind.volume.*" fault={typeFault} />
        <TextFilter name="subject" label="About" placeholder="volume/…" />
        <UserFilter />
        <TextFilter name="token" label="Token ID" />
        <TextFilter name="project" label="Project ID" />
        <TextFilter name="address" label="From the address" />
        <TextFilter name="request_id" label="Request ID" />
        <ChoiceFilter name="outcome" label="Outcome" options={optionsOf(OUTCOMES)} />
        <DayFilter name="from" label="From" />
        <DayFilter name="to" label="Before" />
      </Filters>
      <Table
        caption="Requests for changes, the newest first"
        read={{ ...read, data: data?.records }}
        keyOf={({ id }) => id}
        columns={[
          { name: 'When', show: ({ time }) => <Time at={time} /> },
          {
            name: 'Operation',
            show: ({ operation, type, subject, resources }) => (
              <>
                {operation ?? type}
                <br />
                <span className="muted">
                  {resources.length > 0 ? (
                    resources.map(({ id, name }) => name ?? id).join(', ')
                  ) : (
                    <code>{subject}</code>
                  )}
                </span>
              </>
            ),
          },
          {
            name: 'Who',
            show: ({ actor: { kind, user_id, email, token }, source }) => (
              <>
                {email ?? (user_id === null ? kind : `user ${user_id}`)}{' '}
                {token && <span className="muted">token {token.id}</span>}{' '}
                {source.address && <code className="muted">{source.address}</code>}
              </>
            ),
          },
          {
            name: 'Outcome',
            show: ({ outcome, status, reason, attempts }) => (
              <>
                <span className={`badge ${LOOKS[outcome]}`}>
                  {outcome} {status}
                </span>{' '}
                {reason} {attempts > 1 && <span className="muted">{attempts} times</span>}
              </>
            ),
          },
          {
            name: 'Request',
            show: ({ method, path, task_id, project_id, region_id }) => (
              <span className="row">
                {method !== null && path !== null && <AsCode calls={[{ method, path }]} />}
                <TaskOf task={task_id} project={project_id} region={region_id} />
              </span>
            ),
          },
        ]}
        empty={
          <p>
            Nothing matches. A request that was accepted may have started a task that failed: see{' '}
            <Link to="/p/$project/r/$region/tasks" params={place} search={{ state: 'ERROR' }}>
              the failed tasks
            </Link>
            .
          </p>
        }
      />
      <NextPages next={data?.next_page_token} />
    </Page>
  );
}

/** A choice of the users whom one may list, or else an ID. */
function UserFilter() {
  const may = useRefusal()('listUsers') === undefined;
  const { data } = $api.useQuery('get', '/iam/users', { params: { query: { limit: MOST_USERS } } }, { enabled: may });
  if (!may || !data || data.count > data.results.length) return <TextFilter name="user" label="User ID" />;
  const options = data.results.map(({ id, name, email }) => ({
    value: String(id),
    text: name && name !== email ? `${name} (${email})` : email,
  }));
  return <ChoiceFilter name="user" label="User" options={options} />;
}

const HOUR_MS = 3_600_000;

/** What is looked for most often, one click away; a second click takes it back. */
function Presets({ mine = false }: { mine?: boolean }) {
  const filters = useFilters();
  const change = useSetFilters();
  const { userId } = useWho();
  const toggle = (text: string, isOn: boolean, on: () => Search) => (
    <button
      type="button"
      className="button"
      aria-pressed={isOn}
      onClick={() => change(isOn ? Object.fromEntries(Object.keys(on()).map((name) => [name, ''])) : on())}
    >
      {text}
    </button>
  );
  const iso = (time: number) => `${new Date(time).toISOString().slice(0, 19)}Z`;
  const today = () => iso(serverNow()).slice(0, 10);
  return (
    <fieldset className="row presets">
      <legend className="hidden">Often looked for</legend>
      {mine && toggle('Mine', filters.user === String(userId), () => ({ user: String(userId) }))}
      {mine && toggle('Failed requests', filters.outcome === 'failed', () => ({ outcome: 'failed' }))}
      {toggle('Last hour', filters.from?.includes('T') ?? false, () => ({ from: iso(serverNow() - HOUR_MS), to: '' }))}
      {toggle('Today', filters.from === today(), () => ({ from: today(), to: '' }))}
    </fieldset>
  );
}

function TaskOf({ task, project, region }: { task: string | null; project: number | null; region: number | null }) {
  if (task === null || project === null || region === null) return null;
  return (
    <Link to="/p/$project/r/$region/tasks/$task" params={{ project, region, task }}>
      task
    </Link>
  );
}

const changesOf = (filters: Search) => {
  const { action, group, resource, search, project, from, to, order } = filters;
  return $api.queryOptions('get', '/cloud/v1/user_actions', {
    params: {
      query: {
        ...given({
          action_type: action ? [action as 'create'] : undefined,
          api_group: group ? [group as 'volume'] : undefined,
          resource_id: resource ? [resource] : undefined,
          search_field: search,
          project_id: listOf(whole(project)),
          from_timestamp: startOf(from),
          to_timestamp: startOf(to),
          order_by: order === 'asc' ? ('asc' as const) : undefined,
        }),
        ...pagingOf(filters),
      },
    },
  });
};

function Changes() {
  const { read, call } = useRead(changesOf);
  return (
    <ListPage
      title="Audit"
      caption="Accepted changes of resources"
      call={call}
      read={read}
      keyOf={({ id }) => id}
      filters={
        <>
          <TextFilter name="action" label="Action" placeholder="create" />
          <TextFilter name="group" label="Kind of resource" placeholder="volume" />
          <TextFilter name="search" label="Name begins with" />
          <TextFilter name="resource" label="Resource ID" />
          <TextFilter name="project" label="Project ID" />
          <ChoiceFilter
            name="order"
            label="Order"
            none="newest first"
            options={[{ value: 'asc', text: 'oldest first' }]}
          />
          <DayFilter name="from" label="From" />
          <DayFilter name="to" label="Until" />
        </>
      }
      columns={[
        { name: 'When', show: ({ timestamp }) => <Time at={timestamp} /> },
        {
          name: 'Who',
          show: ({ email, user_id, token_id, source_user_ip }) => (
            <>
              {email ?? `user ${user_id}`} {token_id !== null && <span className="muted">token {token_id}</span>}{' '}
              {source_user_ip && <code className="muted">{source_user_ip}</code>}
            </>
          ),
        },
        { name: 'Action', show: ({ action_type }) => action_type.replaceAll('_', ' ') },
        { name: 'Kind', show: ({ api_group }) => api_group.replaceAll('_', ' ') },
        {
          name: 'Resources',
          show: ({ resources }) =>
            resources.map(({ resource_id, search_field }) => search_field ?? resource_id).join(', '),
        },
        {
          name: 'Task',
          show: ({ task_id, project_id, region_id }) => (
            <TaskOf task={task_id} project={project_id} region={region_id} />
          ),
        },
      ]}
      empty="Nothing matches."
    >
      <Tabs tabs={TABS} label="Parts of the page" />
      <Presets />
    </ListPage>
  );
}
