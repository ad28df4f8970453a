import { Link } from '@tanstack/react-router';
import type { components } from '../../../types/api.d.ts';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { only, pageOf, type Search } from '../../lib/search.ts';
import { optionsOf } from '../../ui/choice.tsx';
import { ChoiceFilter, TextFilter } from '../../ui/filters.tsx';
import { ListPage, useRead } from '../../ui/list-page.tsx';
import { PAGE_SIZE } from '../../ui/pages.tsx';
import { State } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';

type Listed = components['schemas']['ListedAiTask'];

const LIST = '/streaming/ai/tasks';
/** What the API filters and orders by. */
const FILTERS = ['task_id', 'task_name', 'status', 'date_created', 'search', 'ordering'];
const STATUSES = ['PENDING', 'RECEIVED', 'STARTED', 'RETRY', 'SUCCESS', 'FAILURE', 'REVOKED'];
const ORDERS = {
  started_at: 'by start, the oldest first',
  task_id: 'by ID',
  task_name: 'by task',
  status: 'by status',
};

export const UNFINISHED: readonly string[] = ['PENDING', 'RECEIVED', 'RETRY', 'STARTED'];

/** What a task does, such as `transcription` or `content-moderation: nsfw`. */
export const titleOf = ({ task_name, category }: Listed['task_data']): string =>
  category === undefined ? task_name : `${task_name}: ${category}`;

const limitOf = (search: Search): number => Number(search.limit) || PAGE_SIZE;

AiTasks.reads = (search: Search) =>
  $api.queryOptions('get', LIST, {
    params: {
      query: { ...only(search, FILTERS), page: pageOf(search), limit: limitOf(search) },
    },
  });

export function AiTasks() {
  const { read, call, filters } = useRead(AiTasks.reads);
  const filtered = Object.keys(only(filters, FILTERS)).length > 0;
  return (
    <ListPage
      title="AI tasks"
      call={call}
      read={read}
      keyOf={({ task_id }) => task_id}
      nameOf={({ task_id, task_data }) => `${titleOf(task_data)} ${task_id}`}
      bulk={[
        {
          operation: 'cancelAiTask',
          label: 'Cancel',
          call: ({ task_id }) =>
            callOf('post', '/streaming/ai/tasks/{task_id}/cancel', { params: { path: { task_id } } }),
        },
      ]}
      create={
        <Link className="button primary" to="/ai-tasks/new">
          Create a task
        </Link>
      }
      filtered={filtered}
      size={limitOf(filters)}
      filters={
        <>
          <TextFilter name="search" label="Search" placeholder="part of an ID, a status, a value" />
          <ChoiceFilter name="task_name" label="Task" options={optionsOf(['transcription', 'content-moderation'])} />
          <ChoiceFilter name="status" label="Status" options={optionsOf(STATUSES)} />
          <TextFilter name="date_created" label="Created (UTC)" placeholder="2026-05-23 or 2026-05-23T05" />
          <TextFilter name="task_id" label="Task ID" />
          <ChoiceFilter name="ordering" label="Order" options={optionsOf(ORDERS)} none="the latest start first" />
          <ChoiceFilter
            name="limit"
            label="On a page"
            options={optionsOf(['10', '100', '1000'])}
            none={String(PAGE_SIZE)}
          />
        </>
      }
      empty={filtered ? 'No task matches these filters.' : 'There is no AI task yet.'}
      columns={[
        {
          name: 'Task',
          show: ({ task_id, task_data }) => (
            <Link to="/ai-tasks/$task" params={{ task: task_id }}>
              {titleOf(task_data)}
            </Link>
          ),
        },
        { name: 'ID', show: ({ task_id }) => <code>{task_id}</code> },
        { name: 'Status', show: ({ status }) => <State of={status} /> },
        { name: 'Done', number: true, show: ({ progress }) => `${progress} %` },
        { name: 'File', show: ({ task_data: { url } }) => <span className="long">{url}</span> },
        { name: 'Started', show: ({ processing_time: { started_at } }) => <Time at={started_at} /> },
        {
          name: 'Took',
          number: true,
          show: ({ processing_time: { total_time_sec: took } }) => (took === null ? '' : `${took.toFixed(1)} s`),
        },
      ]}
    />
  );
}
