import { keepPreviousData } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { components } from '../../types/api.d.ts';
import { $api } from '../lib/api.ts';
import { isObject } from '../lib/changes.ts';
import { useRefusal } from '../lib/permissions.ts';
import type { Place } from '../lib/place.ts';
import { timeOf } from './time.tsx';

type Task = components['schemas']['Task'];
type Told = Pick<Task, 'id' | 'task_type' | 'data' | 'created_on' | 'project_id' | 'region_id'>;

export const hasEnded = (state: unknown): boolean => state === 'FINISHED' || state === 'ERROR';

/** What a task does, such as `create cluster`. */
export const titleOf = (type: string): string => type.replaceAll('_', ' ');

/** The name in what was asked for, which not every task has. */
function nameIn({ data }: Told): string | undefined {
  if (!isObject(data)) return undefined;
  const names = Array.isArray(data.names) ? data.names : [];
  return [data.name, ...names, data.pool_name, data.cluster_name].find((one) => typeof one === 'string');
}

const HOUR_MS = 3_600_000;
const MOST_RECORDS = 1_000;

/** Says what tasks do and to what, such as `delete volume data`. One read has the names of all that don't name it themselves. */
export function useTitles(tasks: readonly Told[] = []): (task: Told) => string {
  const refusal = useRefusal()('listUserActions');
  const nameless = tasks.filter((task) => nameIn(task) === undefined && task.created_on !== null);
  const times = nameless.map(({ created_on }) => timeOf(created_on ?? '').getTime());
  // By whole hours, so that a new task doesn't make it another question. A request is recorded before its task begins.
  const from = (Math.floor(Math.min(...times) / HOUR_MS) - 1) * HOUR_MS;
  const to = (Math.floor(Math.max(...times) / HOUR_MS) + 1) * HOUR_MS;
  const asked = refusal === undefined && nameless.length > 0;
  const idsOf = (name: 'project_id' | 'region_id') => {
    const ids = [...new Set(nameless.map((task) => task[name]))];
    return ids.includes(null) ? {} : { [name]: ids };
  };
  const { data } = $api.useQuery(
    'get',
    '/cloud/v1/user_actions',
    {
      params: {
        query: asked
          ? {
              ...idsOf('project_id'),
              ...idsOf('region_id'),
              from_timestamp: new Date(from).toISOString(),
              to_timestamp: new Date(to).toISOString(),
              limit: MOST_RECORDS,
            }
          : {},
      },
    },
    { enabled: asked, placeholderData: keepPreviousData },
  );
  const names = new Map(
    data?.results.flatMap(({ task_id, resources }) => {
      const name = resources[0]?.search_field;
      return task_id && name ? [[task_id, name] as const] : [];
    }),
  );
  return (task) => {
    const name = nameIn(task) ?? names.get(task.id);
    return name === undefined ? titleOf(task.task_type) : `${titleOf(task.task_type)} ${name}`;
  };
}

/** Pages of things by the names that tasks have for them, the most important first. */
const PAGES: Readonly<Record<string, string>> = {
  k8s_clusters: 'clusters',
  instances: 'instances',
  loadbalancers: 'load-balancers',
  networks: 'networks',
  volumes: 'volumes',
};

/** The most important of what a task has made, if that is one thing with a page. */
export function thingOf({ created_resources: made }: Task): { kind: string; id: string } | undefined {
  for (const kind of Object.keys(PAGES)) {
    const ids = made?.[kind as keyof typeof made] ?? [];
    if (ids.length > 0) return ids.length === 1 ? { kind, id: String(ids[0]) } : undefined;
  }
  return undefined;
}

/** A link to something that a task has made; the text alone if it has no page. */
export function ThingLink({ task, kind, id, children }: { task: Task; kind: string; id: string; children: ReactNode }) {
  const { project_id, region_id } = task;
  // Pages of clusters go by names.
  const last = kind === 'k8s_clusters' ? nameIn(task) : id;
  if (PAGES[kind] === undefined || last === undefined) return children;
  const to = `/p/${project_id}/r/${region_id}/${PAGES[kind]}/${encodeURIComponent(last)}`;
  return <Link to={to as '/'}>{children}</Link>;
}

export function TaskLink({
  place,
  id,
  onClick,
  children = 'See the task',
}: {
  place: Place;
  id: string;
  onClick?: (() => void) | undefined;
  children?: ReactNode;
}) {
  return (
    <Link to="/p/$project/r/$region/tasks/$task" params={{ ...place, task: id }} onClick={onClick}>
      {children}
    </Link>
  );
}

/** The tasks that an answer names: a list of them, or one inside an object. */
export const tasksIn = (answer: unknown): string[] =>
  Array.isArray(answer)
    ? answer.filter((one) => typeof one === 'string')
    : ((answer as { tasks?: string[] } | undefined)?.tasks ?? []);
