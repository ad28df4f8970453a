import { Toast } from '@base-ui/react/toast';
import { type ReactNode, useEffect } from 'react';
import { $api } from '../lib/api.ts';
import { type Place, remembered, usePlace } from '../lib/place.ts';
import { TaskLink, ThingLink, tasksIn, thingOf, useTitles } from './task.tsx';

interface TaskIn {
  task: string;
  place: Place;
}

export const useToasts = Toast.useToastManager<TaskIn>;

/** As many messages as are shown at a time. */
const TOASTS = 3;

/** Says that the server has accepted something, and follows the tasks that its answer names. */
export function useAccepted(): (answer: unknown, label: string) => void {
  const said = useToasts();
  const place = usePlace() ?? remembered();
  return (answer, label) => {
    const tasks = tasksIn(answer);
    for (const task of tasks.slice(0, TOASTS))
      said.add({
        title: 'Accepted',
        description: <TaskLink place={place} id={task} />,
        timeout: 0,
        data: { task, place },
      });
    if (tasks.length === 0) said.add({ title: 'Accepted', description: label });
  };
}

/** Short messages about what was done elsewhere on the page. Screen readers say them. */
export function Toasts({ children }: { children: ReactNode }) {
  return (
    <Toast.Provider timeout={6_000}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="toasts">
          <Shown />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function Shown() {
  const { toasts } = useToasts();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={`note ${toast.type ?? ''}`}>
      <Toast.Content className="row">
        <Toast.Title />
        <Toast.Description />
        <Toast.Close className="button quiet" aria-label="Dismiss" aria-hidden={false}>
          ✕
        </Toast.Close>
      </Toast.Content>
      {toast.data && <Following toast={toast.id} {...toast.data} />}
    </Toast.Root>
  ));
}

/** Long enough to get to one of the links. */
const DONE_MS = 10_000;

/** Has a message say how the task goes on. It stays while the task is under way, and if it fails until it is closed. */
function Following({ toast, task: id, place }: TaskIn & { toast: string }) {
  const { update } = useToasts();
  const { data: task } = $api.useQuery('get', '/v1/tasks/{task_id}', { params: { path: { task_id: id } } });
  const titles = useTitles(task && [task]);
  const title = task && titles(task);
  useEffect(() => {
    if (!task || title === undefined) return;
    const link = <TaskLink place={place} id={id} />;
    if (task.state === 'ERROR')
      update(toast, {
        title: `Failed: ${title}`,
        description: (
          <>
            <span className="long">{task.error}</span> {link}
          </>
        ),
        type: 'bad',
      });
    else if (task.state === 'FINISHED') {
      const thing = thingOf(task);
      update(toast, {
        title: `Done: ${title}`,
        description: (
          <>
            {thing && (
              <ThingLink task={task} {...thing}>
                Open it
              </ThingLink>
            )}{' '}
            {link}
          </>
        ),
        type: 'good',
        timeout: DONE_MS,
      });
    } else update(toast, { title: `${title} …` });
  }, [task, title, toast, update, place, id]);
  return null;
}
