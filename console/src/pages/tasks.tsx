import { Link, useParams } from '@tanstack/react-router';
import { Fragment } from 'react';
import type { components } from '../../types/api.d.ts';
import { $api } from '../lib/api.ts';
import { callOf } from '../lib/call.ts';
import { useRefusal } from '../lib/permissions.ts';
import { type Place, usePlace } from '../lib/place.ts';
import { only, type Search } from '../lib/search.ts';
import { AsCode } from '../ui/as-code.tsx';
import { optionsOf } from '../ui/choice.tsx';
import { Copy } from '../ui/copy.tsx';
import { Fault } from '../ui/fault.tsx';
import { ChoiceFilter, TextFilter } from '../ui/filters.tsx';
import { Json } from '../ui/json.tsx';
import { ListPage, useRead } from '../ui/list-page.tsx';
import { Page, Section, UnreadPage } from '../ui/page.tsx';
import { pagingOf } from '../ui/pages.tsx';
import { Review } from '../ui/review.tsx';
import { State } from '../ui/state.tsx';
import { Tabs, useTab } from '../ui/tabs.tsx';
import { hasEnded, TaskLink, ThingLink, useTitles } from '../ui/task.tsx';
import { Time, timeOf } from '../ui/time.tsx';
import { StepsChart } from './task-steps.tsx';

type Task = components['schemas']['Task'];

const LIST = '/cloud/v1/tasks';
/** Those that the API has under the same names; the days become times. */
const FILTERS = ['state', 'task_type', 'is_acknowledged', 'order_by'];
const STATES = ['NEW', 'RUNNING', 'FINISHED', 'ERROR'];

Tasks.reads = (search: Search, { project, region }: Place) => {
  const { scope, from, to } = search;
  return $api.queryOptions('get', LIST, {
    params: {
      query: {
        ...(scope !== 'account' && { project_id: [project], region_id: [region] }),
        ...only(search, FILTERS),
        ...(from && { from_timestamp: `${from}T00:00:00Z` }),
        ...(to && { to_timestamp: `${to}T23:59:59Z` }),
        ...pagingOf(search),
      },
    },
  });
};

export function Tasks() {
  const { read, call, filters, place } = useRead(Tasks.reads);
  const { scope } = filters;
  const titleOf = useTitles(read.data?.results);
  return (
    <ListPage
      title="Tasks"
      call={call}
      read={read}
      keyOf={({ id }) => id}
      nameOf={(task) => `${titleOf(task)} ${task.id}`}
      bulk={[
        { operation: 'acknowledgeTask', label: 'Acknowledge', tone: 'quiet', call: ({ id }) => acknowledgement(id) },
      ]}
      more={
        <Review
          operation="acknowledgeAllTasks"
          label="Acknowledge all"
          title={
            scope === 'account'
              ? 'Acknowledge all ended tasks of the account?'
              : 'Acknowledge all ended tasks of this project and region?'
          }
          call={() =>
            callOf('post', '/cloud/v1/tasks/acknowledge_all', {
              params: { query: scope === 'account' ? {} : { project_id: place.project, region_id: place.region } },
            })
          }
        />
      }
      filters={
        <>
          <ChoiceFilter name="state" label="State" options={optionsOf(STATES)} />
          <TextFilter name="task_type" label="Exact type" placeholder="create_volume" />
          <ChoiceFilter
            name="is_acknowledged"
            label="Acknowledged"
            options={[
              { value: 'false', text: 'not yet' },
              { value: 'true', text: 'yes' },
            ]}
          />
          <TextFilter name="from" label="Accepted from (UTC)" type="date" />
          <TextFilter name="to" label="Until the end of (UTC)" type="date" />
          <ChoiceFilter
            name="order_by"
            label="Order"
            none="newest first"
            options={[{ value: 'asc', text: 'oldest first' }]}
          />
          <ChoiceFilter
            name="scope"
            label="Where"
            none="this project and region"
            options={[{ value: 'account', text: 'the whole account' }]}
          />
        </>
      }
      empty="No task is as these filters say."
      columns={[
        {
          name: 'Task',
          show: (task) => {
            const { id, project_id, region_id } = task;
            return (
              <TaskLink place={{ project: project_id ?? place.project, region: region_id ?? place.region }} id={id}>
                {titleOf(task)}
              </TaskLink>
            );
          },
        },
        { name: 'State', show: ({ state }) => <State of={String(state)} /> },
        { name: 'Accepted', show: ({ created_on }) => <Time at={created_on} /> },
        { name: 'Ended', show: ({ finished_on }) => <Time at={finished_on} /> },
        { name: 'Error', show: ({ error }) => error && <span className="long">{error}</span> },
        { name: 'Acknowledged', show: ({ acknowledged_at }) => <Time at={acknowledged_at} /> },
      ]}
    />
  );
}

export const acknowledgement = (id: string) =>
  callOf('post', '/cloud/v1/tasks/{task_id}/acknowledge', { params: { path: { task_id: id } } });

const TABS = { steps: 'Steps', request: 'Request', json: 'JSON' } as const;

/** One task: its steps while it works, and why it failed. */
export function TaskPage() {
  const { task: id } = useParams({ from: '/p/$project/r/$region/tasks/$task' });
  const place = usePlace() as Place;
  const tab = useTab(TABS);
  const params = { path: { task_id: id } };
  const { data: task, error: unread, refetch } = $api.useQuery('get', '/v1/tasks/{task_id}', { params });
  const titleOf = useTitles(task && [task]);
  if (!task) return <UnreadPage title="Task" error={unread} again={refetch} />;
  const { state, error, acknowledged_at } = task;
  const ended = hasEnded(state);
  return (
    <Page
      title={titleOf(task)}
      crumbs={[
        <Link key="tasks" to="/p/$project/r/$region/tasks" params={place}>
          Tasks
        </Link>,
        <code key="id">{id}</code>,
      ]}
      actions={
        <>
          <AsCode
            calls={[
              callOf('get', '/v1/tasks/{task_id}', { params }),
              callOf('get', '/tradewind/v1/tasks/{task_id}/steps', { params }),
            ]}
          />
          {state === 'ERROR' && (
            <Review
              operation="acknowledgeTask"
              label="Acknowledge"
              title="Acknowledge that this task has failed?"
              disabled={acknowledged_at === null ? undefined : 'Somebody has'}
              call={() => acknowledgement(id)}
            />
          )}
          <Review
            operation="cancelTask"
            label="Cancel"
            title="Cancel this task?"
            tone="danger"
            disabled={ended ? 'It has ended' : undefined}
            call={() => callOf('post', '/tradewind/v1/tasks/{task_id}/cancel', { params })}
          >
            <p>It ends with an error, and what it began is undone.</p>
          </Review>
        </>
      }
    >
      {error && (
        <p className="note bad" role="alert">
          {error}
        </p>
      )}
      <Facts of={task} />
      <Tabs tabs={TABS} label="Parts of the task" />
      {tab === 'steps' && <Steps of={task} />}
      {tab === 'request' && <RequestOf task={task} />}
      {tab === 'json' && <Json of={task} />}
    </Page>
  );
}

function Facts({ of: task }: { of: Task }) {
  const made = Object.entries(task.created_resources ?? {}).filter(([, ids]) => ids.length > 0);
  return (
    <div className="card">
      <dl className="facts inside">
        <dt>State</dt>
        <dd>
          <State of={String(task.state)} />
        </dd>
        <dt>Accepted</dt>
        <dd>
          <Time at={task.created_on} />
        </dd>
        <dt>Ended</dt>
        <dd>
          <Time at={task.finished_on} />
        </dd>
        {task.state === 'ERROR' && (
          <>
            <dt>Acknowledged</dt>
            <dd>
              <Time at={task.acknowledged_at} />
            </dd>
          </>
        )}
        {made.map(([kind, ids]) => (
          <Fragment key={kind}>
            <dt>Made {kind.replaceAll('_', ' ')}</dt>
            <dd className="row">
              {ids.map(String).map((id) => (
                <ThingLink key={id} task={task} kind={kind} id={id}>
                  <code>{id}</code>
                </ThingLink>
              ))}
            </dd>
          </Fragment>
        ))}
      </dl>
    </div>
  );
}

function Steps({ of: task }: { of: Task }) {
  const { data, error, refetch } = $api.useQuery('get', '/tradewind/v1/tasks/{task_id}/steps', {
    params: { path: { task_id: task.id } },
  });
  if (error && !data) return <Fault error={error} again={() => void refetch()} />;
  return (
    <Section
      title="Steps"
      aside={
        data && (
          <span className="muted">
            {data.done} of {data.of} done
          </span>
        )
      }
    >
      {!data && <p className="empty">Reading …</p>}
      {data?.steps.length === 0 && <p className="empty">This task has no steps.</p>}
      {data && (
        <StepsChart
          of={data}
          error={task.error}
          from={timeOf(task.created_on ?? '').getTime()}
          to={hasEnded(task.state) ? timeOf(task.finished_on ?? '').getTime() : undefined}
        />
      )}
    </Section>
  );
}

const BEFORE_MS = 30_000;
const AFTER_MS = 2_000;

/** What was asked, by whom and from where: the record of the request in the audit log, from around the time of its acceptance. */
function RequestOf({ task }: { task: Task }) {
  const refused = useRefusal()('listAuditRecords');
  const accepted = timeOf(task.created_on ?? '').getTime();
  const { data, error, refetch } = $api.useQuery(
    'get',
    '/tradewind/v1/audit',
    {
      params: {
        query: {
          from: new Date(accepted - BEFORE_MS).toISOString(),
          to: new Date(accepted + AFTER_MS).toISOString(),
          limit: 1_000,
          ...(task.project_id !== null && { project_id: [task.project_id] }),
        },
      },
    },
    { enabled: refused === undefined && task.request_id !== null },
  );
  const record = (data as components['schemas']['AuditList'] | undefined)?.records.find(
    (one) => one.request_id === task.request_id || one.task_id === task.id,
  );
  return (
    <>
      <Section title="Audit record">
        <div className="inside">
          <dl className="facts">
            <dt>Request</dt>
            <dd className="row">
              <code>{task.request_id ?? '–'}</code>
              {task.request_id && <Copy text={task.request_id} label="Copy the request ID" />}
            </dd>
            {record && (
              <>
                <dt>Asked by</dt>
                <dd>
                  {record.actor.email ?? record.actor.kind}
                  {record.actor.token && ` with the token ${record.actor.token.name ?? record.actor.token.id}`}
                </dd>
                <dt>From</dt>
                <dd>
                  {record.source.address} <span className="muted">{record.source.user_agent}</span>
                </dd>
                <dt>When</dt>
                <dd>
                  <Time at={record.time} />
                </dd>
                <dt>What</dt>
                <dd>
                  {record.operation}{' '}
                  <code className="muted">
                    {record.method} {record.path}
                  </code>
                </dd>
              </>
            )}
          </dl>
          {refused && <p className="muted">{refused}</p>}
          {error && <Fault error={error} again={() => void refetch()} />}
          {data && !record && <p className="muted">The audit log has no record of this request.</p>}
        </div>
      </Section>
      <section aria-labelledby="data">
        <h2 id="data">What was asked for</h2>
        <Json of={task.data} />
      </section>
    </>
  );
}
