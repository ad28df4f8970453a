import { Link } from '@tanstack/react-router';
import type { components } from '../../../types/api.d.ts';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { only, useFilters, usePage } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Bulk } from '../../ui/bulk.tsx';
import { ChoiceFilter, TextFilter } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { PAGE_SIZE, Pages } from '../../ui/pages.tsx';
import { useSelection } from '../../ui/selection.tsx';
import { State } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type Listed = components['schemas']['ListedAiTask'];

/** What the API filters and orders by. */
const FILTERS = ['task_id', 'task_name', 'status', 'date_created', 'search', 'ordering'];
const options = (...values: string[]) => values.map((value) => ({ value, text: value }));
const ORDERS = [
  { value: 'started_at', text: 'by start, the oldest first' },
  { value: 'task_id', text: 'by ID' },
  { value: 'task_name', text: 'by task' },
  { value: 'status', text: 'by status' },
];

export const UNFINISHED: readonly string[] = ['PENDING', 'RECEIVED', 'RETRY', 'STARTED'];

/** What a task does, such as `transcription` or `content-moderation: nsfw`. */
export const titleOf = ({ task_name, category }: Listed['task_data']): string =>
  category === undefined ? task_name : `${task_name}: ${category}`;

export function AiTasks() {
  const page = usePage();
  const filters = useFilters();
  const given = only(filters, FILTERS);
  const limit = Number(filters.limit) || PAGE_SIZE;
  const params = { query: { ...given, page, limit } as never };
  const read = $api.useQuery('get', '/streaming/ai/tasks', { params });
  const { chosen, column, drop } = useSelection(
    read.data?.results,
    ({ task_id }) => task_id,
    ({ task_id }) => task_id,
  );
  const create = (
    <Link className="button primary" to="/ai-tasks/new">
      Create a task
    </Link>
  );
  return (
    <Page
      title="AI tasks"
      actions={
        <>
          <AsCode calls={[callOf('get', '/streaming/ai/tasks', { params })]} />
          <Bulk
            operation="cancelAiTask"
            label="Cancel"
            items={chosen.map(({ task_id, task_data }) => ({
              id: task_id,
              name: `${titleOf(task_data)} ${task_id}`,
              call: callOf('post', '/streaming/ai/tasks/{task_id}/cancel', { params: { path: { task_id } } }),
            }))}
            onDone={drop}
          />
          {create}
        </>
      }
    >
      <search className="filters">
        <TextFilter name="search" label="Search" placeholder="part of an ID, a status, a value" />
        <ChoiceFilter name="task_name" label="Task" options={options('transcription', 'content-moderation')} />
        <ChoiceFilter
          name="status"
          label="Status"
          options={options('PENDING', 'RECEIVED', 'STARTED', 'RETRY', 'SUCCESS', 'FAILURE', 'REVOKED')}
        />
        <TextFilter name="date_created" label="Created (UTC)" placeholder="2026-05-23 or 2026-05-23T05" />
        <TextFilter name="task_id" label="Task ID" />
        <ChoiceFilter name="ordering" label="Order" options={ORDERS} none="the latest start first" />
        <ChoiceFilter name="limit" label="On a page" options={options('10', '100', '1000')} none={String(PAGE_SIZE)} />
      </search>
      <Table
        caption="AI tasks"
        read={read}
        keyOf={({ task_id }) => task_id}
        columns={[
          column,
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
        empty={
          Object.keys(given).length > 0 ? (
            <p>No task matches these filters.</p>
          ) : (
            <>
              <p>There is no AI task yet.</p>
              {create}
            </>
          )
        }
      />
      <Pages count={read.data?.count ?? 0} page={page} size={limit} />
    </Page>
  );
}
