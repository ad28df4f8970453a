import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { components } from '../../types/api.d.ts';
import { $api } from '../lib/api.ts';
import { callOf } from '../lib/call.ts';
import { type Place, usePlace } from '../lib/place.ts';
import { useWho } from '../lib/session.ts';
import { AsCode } from '../ui/as-code.tsx';
import { Meter } from '../ui/bars.tsx';
import { Fault } from '../ui/fault.tsx';
import { Money } from '../ui/money.tsx';
import { Page } from '../ui/page.tsx';
import { Review } from '../ui/review.tsx';
import { State } from '../ui/state.tsx';
import { TaskLink, useTitles } from '../ui/task.tsx';
import { Time } from '../ui/time.tsx';
import { nameOf } from './account/quota-names.ts';
import { FirstSteps } from './first-steps.tsx';
import { RunningTasks, runningOf, TASKS_SHOWN as SHOWN, TASKS, useRunning } from './task-tray.tsx';
import { acknowledgement } from './tasks.tsx';

export function Overview() {
  const place = usePlace() as Place;
  const { clientId } = useWho();
  return (
    <Page
      title="Overview"
      actions={
        <AsCode
          calls={[
            callOf('get', TASKS, runningOf(place)),
            callOf('get', TASKS, failedOf(place)),
            callOf('get', QUOTAS, { params: { path: { client_id: clientId, region_id: place.region } } }),
            callOf('get', COSTS, { params: { query: costsOf(place, clientId) } }),
            callOf('get', ACTIONS, { params: { query: changesOf(place) } }),
          ]}
        />
      }
    >
      <FirstVisit place={place} />
      <div className="columns">
        <Running place={place} />
        <Failed place={place} />
        <Changes place={place} />
        <Costs place={place} />
        <Quotas place={place} />
      </div>
    </Page>
  );
}

const QUOTAS = '/cloud/v2/regional_quotas/{client_id}/{region_id}';
const COSTS = '/tradewind/v1/costs';
const ACTIONS = '/cloud/v1/user_actions';

const inPlace = ({ project, region }: Place) => ({ project_id: [project], region_id: [region] });
/** Failed tasks that nobody has seen. */
const failedOf = (place: Place) => ({
  params: { query: { ...inPlace(place), state: ['ERROR' as const], is_acknowledged: false, limit: SHOWN } },
});
const costsOf = (place: Place, clientId: number) => ({ client_id: [clientId], ...inPlace(place), limit: 1_000 });
const changesOf = (place: Place) => ({ ...inPlace(place), limit: SHOWN });

interface Read {
  data?: unknown;
  error: object | null;
  refetch: () => unknown;
}

function Card({
  title,
  note,
  read: { data, error, refetch },
  children,
}: {
  title: string;
  note?: ReactNode;
  read: Read;
  children: ReactNode;
}) {
  return (
    <section className="card" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <span className="muted">{note}</span>
      </header>
      {error && <Fault error={error} again={() => void refetch()} />}
      {(!error || data !== undefined) && children}
    </section>
  );
}

function Running({ place }: { place: Place }) {
  const read = useRunning(place);
  return (
    <Card title="Running tasks" note={read.data?.count} read={read}>
      {read.data && <RunningTasks place={place} of={read.data} />}
    </Card>
  );
}

function Failed({ place }: { place: Place }) {
  const read = $api.useQuery('get', TASKS, failedOf(place));
  const titleOf = useTitles(read.data?.results);
  return (
    <Card title="Needs you" note={read.data?.count} read={read}>
      {read.data?.count === 0 && <p className="empty">No task has failed that nobody has seen.</p>}
      <ul className="lines">
        {read.data?.results.map((task) => (
          <li key={task.id} className="attention">
            <div className="row">
              <TaskLink place={place} id={task.id}>
                {titleOf(task)}
              </TaskLink>
              <State of={String(task.state)} />
              <span className="muted">
                <Time at={task.created_on} />
              </span>
            </div>
            <p className="long">{task.error}</p>
            <Review
              operation="acknowledgeTask"
              label="Acknowledge"
              title={`Acknowledge that ${titleOf(task)} has failed?`}
              call={() => acknowledgement(task.id)}
            />
          </li>
        ))}
      </ul>
    </Card>
  );
}

interface Quota {
  name: string;
  limit: number;
  used: number;
  share: number;
}

/** The quotas of the account in the region, those with the largest share in use first. */
function useQuotas({ region }: Place) {
  const { clientId } = useWho();
  const read = $api.useQuery('get', QUOTAS, {
    params: { path: { client_id: clientId, region_id: region } },
  });
  const numbers = (read.data ?? {}) as Record<string, number>;
  const quotas = Object.keys(numbers)
    .flatMap((key): Quota[] => {
      const name = /^(.*)_count_limit$/.exec(key)?.[1];
      if (name === undefined) return [];
      const [limit = 0, used = 0] = [numbers[key], numbers[`${name}_count_usage`]];
      return [{ name: nameOf(name), limit, used, share: limit === 0 ? 0 : used / limit }];
    })
    .sort((one, other) => other.share - one.share || other.used - one.used);
  return { read, quotas };
}

function Quotas({ place }: { place: Place }) {
  const { read, quotas } = useQuotas(place);
  return (
    <Card title="Quotas" note="of the account in this region" read={read}>
      <ul className="lines">
        {quotas.slice(0, SHOWN).map(({ name, limit, used, share }) => (
          <li key={name} className="quota">
            <span>{name}</span>
            <span className="muted">
              {used} of {limit}
            </span>
            <Meter share={share} full={share >= 0.9} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** What the project has cost in the region since the month began, in UTC. */
function Costs({ place }: { place: Place }) {
  const { clientId } = useWho();
  const month = useCosts(costsOf(place, clientId));
  const lines = month.data?.lines ?? [];
  const unknown = lines.find(({ cost }) => cost === null);
  const currency = lines.find((one) => one.currency !== null)?.currency;
  return (
    <Card title="Costs" note="of this project and region" read={month}>
      {month.data && lines.length === 0 && <p className="empty">Nothing has cost anything this month.</p>}
      {lines.length > 0 && (
        <dl className="facts inside">
          <dt>This month so far</dt>
          <dd>
            <strong>
              <Money amount={sum(lines)} currency={currency} />
            </strong>
          </dd>
          {unknown && (
            <>
              <dt>Without</dt>
              <dd>{unknown.err ?? 'what has hidden prices'}</dd>
            </>
          )}
        </dl>
      )}
    </Card>
  );
}

function useCosts(query: Record<string, unknown>) {
  const read = $api.useQuery('get', COSTS, { params: { query } });
  // The operation has another form too, which is not asked for here.
  return { ...read, data: read.data as components['schemas']['CostStatement'] | undefined };
}

const sum = (lines: readonly { cost: number | null }[]): number =>
  lines.reduce((all, { cost }) => all + (cost ?? 0), 0);

function Changes({ place }: { place: Place }) {
  const read = $api.useQuery('get', ACTIONS, { params: { query: changesOf(place) } });
  // The other cards read these, too: nothing more is asked of the server.
  const failed = $api.useQuery('get', TASKS, failedOf(place));
  const running = useRunning(place);
  const known = [...(failed.data?.results ?? []), ...(running.data?.results ?? [])];
  const stateOf = (id: string | null) => known.find((task) => task.id === id)?.state;
  return (
    <Card title="Recent changes" read={read}>
      {read.data?.count === 0 && <p className="empty">Nobody has changed anything yet.</p>}
      <ul className="lines">
        {read.data?.results.map(({ id, timestamp, email, user_id, action_type, api_group, resources, task_id }) => (
          <li key={id} className="row">
            <span className="muted">
              <Time at={timestamp} />
            </span>
            <span>{email ?? `user ${user_id}`}</span>
            <span>
              {action_type.replaceAll('_', ' ')} {api_group.replaceAll('_', ' ')}{' '}
              <strong>
                {resources.map(({ search_field, resource_id }) => search_field ?? resource_id).join(', ')}
              </strong>
            </span>
            {stateOf(task_id) && <State of={String(stateOf(task_id))} />}
            {task_id && (
              <Link
                to="/p/$project/r/$region/tasks/$task"
                params={{ ...place, task: task_id }}
                aria-label={`The task of the change ${id}`}
              >
                task
              </Link>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Shown while the account has nothing in the region, and has never started a task. */
function FirstVisit({ place }: { place: Place }) {
  const { read, quotas } = useQuotas(place);
  const tasks = $api.useQuery('get', TASKS, { params: { query: { limit: 1 } } });
  if (!read.data || tasks.data?.count !== 0 || quotas.some(({ used }) => used > 0)) return null;
  return <FirstSteps place={place} />;
}
