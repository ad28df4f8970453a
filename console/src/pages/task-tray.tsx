import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import type { components } from '../../types/api.d.ts';
import { $api } from '../lib/api.ts';
import type { Place } from '../lib/place.ts';
import { Meter } from '../ui/bars.tsx';
import { Drawer } from '../ui/drawer.tsx';
import { Fault } from '../ui/fault.tsx';
import { State } from '../ui/state.tsx';
import { TaskLink, useTitles } from '../ui/task.tsx';
import { Time, timeOf, useNow } from '../ui/time.tsx';

type Task = components['schemas']['Task'];

export const TASKS = '/cloud/v1/tasks';
export const TASKS_SHOWN = 8;
const UNDER_WAY = ['NEW', 'RUNNING'] as const;
const ENDED = ['FINISHED', 'ERROR'] as const;
/** A task that began long ago may have ended just now. */
const ENDED_READ = 100;
const JUST_MS = 10 * 60_000;
/** How long a failure is pointed out, unless somebody acknowledges it. */
const FAILED_MS = 60 * 60_000;

const tasksOf = ({ project, region }: Place, state: readonly Task['state'][], limit: number) => ({
  params: { query: { project_id: [project], region_id: [region], state: [...state], limit } },
});
export const runningOf = (place: Place) => tasksOf(place, UNDER_WAY, TASKS_SHOWN);
export const useRunning = (place: Place) => $api.useQuery('get', TASKS, runningOf(place));

const FAILED_READ = 20;

/** How many tasks have failed in the last hour that nobody has acknowledged. */
function useFailed(place: Place): number {
  const now = useNow();
  const { params } = tasksOf(place, ['ERROR'], FAILED_READ);
  const { data } = $api.useQuery('get', TASKS, { params: { query: { ...params.query, is_acknowledged: false } } });
  return data?.results.filter((task) => now - endOf(task) < FAILED_MS).length ?? 0;
}

const endOf = ({ finished_on }: Task): number => (finished_on ? timeOf(finished_on).getTime() : 0);

/** The tasks that are under way in the place, from any page, and those that have just ended. */
export function TaskTray({ place }: { place: Place }) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const { data, error, refetch } = useRunning(place);
  const failed = useFailed(place);
  const close = () => setOpen(false);
  return (
    <>
      <button ref={button} type="button" className="button quiet" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Tasks
        {data && (
          <span className={`badge ${data.count > 0 ? 'busy' : ''}`}>
            {data.count}
            <span className="hidden"> running</span>
          </span>
        )}
        {failed > 0 && <span className="badge bad"> {failed} failed</span>}
      </button>
      <Drawer open={open} onOpenChange={setOpen} opener={button} title="Tasks">
        {error && <Fault error={error} again={() => void refetch()} />}
        <section className="card" aria-label="Running">
          <header>
            <h3>Running</h3>
          </header>
          {data && <RunningTasks place={place} of={data} onOpen={close} />}
        </section>
        <JustEnded place={place} onOpen={close} />
        <Link to="/p/$project/r/$region/tasks" params={place} onClick={close}>
          All tasks
        </Link>
      </Drawer>
    </>
  );
}

interface Shown {
  place: Place;
  onOpen?: (() => void) | undefined;
}

export function RunningTasks({
  of: { count, results },
  place,
  onOpen,
}: Shown & { of: { count: number; results: Task[] } }) {
  const titleOf = useTitles(results);
  if (count === 0) return <p className="empty">Nothing is being changed.</p>;
  return (
    <ul className="lines">
      {results.map((task) => (
        <li key={task.id} className="quota">
          <TaskLink place={place} id={task.id} onClick={onOpen}>
            {titleOf(task)}
          </TaskLink>
          <span className="muted">
            <Time at={task.created_on} />
          </span>
          <Progress id={task.id} />
        </li>
      ))}
    </ul>
  );
}

/** How far a task is, and what it does. */
function Progress({ id }: { id: string }) {
  const { data } = $api.useQuery('get', '/tradewind/v1/tasks/{task_id}/steps', { params: { path: { task_id: id } } });
  if (!data) return null;
  const [current] = data.steps.filter(({ state }) => state === 'doing' || state === 'waiting');
  return (
    <>
      <span className="muted">
        {current && `${current.kind.replaceAll('_', ' ')}: ${current.doing ?? current.state}`}
      </span>
      <span className="muted">
        step {Math.min(data.done + 1, data.of)} of {data.of}
      </span>
      <Meter share={data.of === 0 ? 0 : data.done / data.of} />
    </>
  );
}

function JustEnded({ place, onOpen }: Shown) {
  const now = useNow();
  const { data, error, refetch } = $api.useQuery('get', TASKS, tasksOf(place, ENDED, ENDED_READ));
  const ended = data?.results
    .filter((task) => now - endOf(task) < (task.state === 'ERROR' && !task.acknowledged_at ? FAILED_MS : JUST_MS))
    .sort((one, other) => endOf(other) - endOf(one));
  const titleOf = useTitles(ended);
  return (
    <section className="card" aria-label="Ended just now">
      <header>
        <h3>Ended in the last ten minutes</h3>
        <span className="muted">failures for an hour, unless acknowledged</span>
      </header>
      {error && <Fault error={error} again={() => void refetch()} />}
      {ended?.length === 0 && <p className="empty">None has.</p>}
      <ul className="lines">
        {ended?.map((task) => (
          <li key={task.id} className={task.state === 'ERROR' ? 'note bad' : undefined}>
            <div className="row">
              <TaskLink place={place} id={task.id} onClick={onOpen}>
                {titleOf(task)}
              </TaskLink>
              <State of={task.state} />
              <span className="muted">
                <Time at={task.finished_on} />
              </span>
            </div>
            {task.error && <p className="long">{task.error}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}
