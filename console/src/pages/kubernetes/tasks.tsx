import { Link } from '@tanstack/react-router';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { useRefusal } from '../../lib/permissions.ts';
import type { Place } from '../../lib/place.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Unread } from '../../ui/fault.tsx';
import { Pages, usePaging } from '../../ui/pages.tsx';
import { State } from '../../ui/state.tsx';
import { titleOf } from '../../ui/task.tsx';
import { Time, timeOf } from '../../ui/time.tsx';
import { StepsChart } from '../task-steps.tsx';
import type { Cluster } from './data.ts';

/** Each row reads the steps of its task. */
const SHOWN = 10;

/** What was done with a cluster and its pools, the newest first, with the steps over time. */
export function Tasks({ place, cluster }: { place: Place; cluster: Cluster }) {
  const params = {
    query: {
      project_id: [place.project],
      resource_id: [cluster.id],
      order_by: 'desc' as const,
      ...usePaging(SHOWN),
    },
  };
  const refusal = useRefusal()('listUserActions');
  const { data, error, refetch } = $api.useQuery('get', '/cloud/v1/user_actions', { params });
  if (refusal !== undefined) return <KnownTasks place={place} cluster={cluster} />;
  if (!data) return <Unread error={error} again={refetch} />;
  return (
    <div className="page">
      <div className="row">
        <AsCode calls={[callOf('get', '/cloud/v1/user_actions', { params })]} />
      </div>
      {data.results.map(({ id, task_id, action_type, timestamp, email }) =>
        task_id ? (
          <TaskTimeline key={id} place={place} id={task_id} by={email ?? undefined} />
        ) : (
          <section key={id} className="card" aria-label={titleOf(String(action_type))}>
            <header>
              <h2>{titleOf(String(action_type))}</h2>
              <span className="muted">
                <Time at={timestamp} /> {email && `by ${email}`}
              </span>
            </header>
          </section>
        ),
      )}
      <Pages count={data.count} size={SHOWN} />
    </div>
  );
}

/** Shows the tasks that the cluster names, to users who may not list what others did. */
function KnownTasks({ place, cluster }: { place: Place; cluster: Cluster }) {
  const ids = new Set([cluster.task_id, cluster.creator_task_id].filter((id) => id !== null));
  return (
    <div className="page">
      <p className="muted">
        Only administrators can list all that was done with this cluster. These are the tasks that hold it and made it.
        Others are among{' '}
        <Link to="/p/$project/r/$region/tasks" params={place}>
          all tasks
        </Link>
        .
      </p>
      {[...ids].map((id) => (
        <TaskTimeline key={id} place={place} id={id} by={undefined} />
      ))}
    </div>
  );
}

function TaskTimeline({ place, id, by }: { place: Place; id: string; by: string | undefined }) {
  const task = $api.useQuery('get', '/v1/tasks/{task_id}', { params: { path: { task_id: id } } });
  const steps = $api.useQuery('get', '/tradewind/v1/tasks/{task_id}/steps', { params: { path: { task_id: id } } });
  if (!task.data) return <Unread error={task.error} again={task.refetch} />;
  const { task_type, state, error, created_on, finished_on, request_id } = task.data;
  const failed = state === 'ERROR';
  return (
    <section className="card" aria-labelledby={`task-${id}`}>
      <header>
        <h2 id={`task-${id}`}>
          <Link to="/p/$project/r/$region/tasks/$task" params={{ ...place, task: id }}>
            {titleOf(task_type)}
          </Link>
        </h2>
        <State of={String(state)} />
        <span className="muted">
          <Time at={created_on} /> {by && `by ${by}`}
        </span>
        {steps.data && (
          <span className="muted">
            {steps.data.done} of {steps.data.of} steps done
          </span>
        )}
      </header>
      <div className="inside page">
        {failed && (
          <div className="note bad">
            <p>{error}</p>
            <p className="muted">
              Request <code>{request_id}</code>
            </p>
          </div>
        )}
        {steps.data && (
          <StepsChart
            of={steps.data}
            error={error}
            from={timeOf(created_on ?? '').getTime()}
            to={finished_on === null ? undefined : timeOf(finished_on).getTime()}
          />
        )}
        {steps.data?.steps.length === 0 && <p className="muted">Nothing was to be done on the infrastructure.</p>}
      </div>
    </section>
  );
}
