import { Link } from '@tanstack/react-router';
import type { components } from '../../../types/api.d.ts';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
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

export type Volume = components['schemas']['Volume'];

/** What the API filters volumes by. */
const FILTERS = [
  'name_part',
  'id_part',
  'has_attachments',
  'bootable',
  'instance_id',
  'cluster_id',
  'tag_key',
  'tag_key_value',
];
const RARE = FILTERS.slice(4);

export const YES_OR_NO = [
  { value: 'true', text: 'yes' },
  { value: 'false', text: 'no' },
];

export function Volumes() {
  const place = usePlace() as Place;
  const page = usePage();
  const filters = only(useFilters(), FILTERS);
  const params = {
    path: pathOf(place),
    query: { ...filters, limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE } as never,
  };
  const read = $api.useQuery('get', '/cloud/v1/volumes/{project_id}/{region_id}', { params });
  const { chosen, column, drop } = useSelection(
    read.data?.results,
    ({ id }) => id,
    ({ name }) => name,
  );
  const create = (
    <Link className="button primary" to="/p/$project/r/$region/volumes/new" params={place}>
      Create a volume
    </Link>
  );
  return (
    <Page
      title="Volumes"
      actions={
        <>
          <AsCode calls={[callOf('get', '/cloud/v1/volumes/{project_id}/{region_id}', { params })]} />
          <Bulk
            operation="deleteVolume"
            label="Delete"
            items={chosen.map(({ id, name }) => ({
              id,
              name,
              call: callOf('delete', '/cloud/v1/volumes/{project_id}/{region_id}/{volume_id}', {
                params: { path: { ...pathOf(place), volume_id: id } },
              }),
            }))}
            onDone={drop}
          />
          {create}
        </>
      }
    >
      <search className="filters">
        <TextFilter name="name_part" label="Part of the name" />
        <TextFilter name="id_part" label="Part of the ID" />
        <ChoiceFilter name="has_attachments" label="Attached" options={YES_OR_NO} />
        <ChoiceFilter name="bootable" label="Bootable" options={YES_OR_NO} />
        <details open={RARE.some((name) => filters[name])}>
          <summary>More filters</summary>
          <div className="filters">
            <TextFilter name="instance_id" label="Instance ID" />
            <TextFilter name="cluster_id" label="Cluster" />
            <TextFilter name="tag_key" label="Key of a tag" />
            <TextFilter name="tag_key_value" label="Tags as JSON" placeholder='{"team": "web"}' />
          </div>
        </details>
      </search>
      <Table
        caption="Volumes"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          column,
          {
            name: 'Name',
            show: ({ id, name }) => (
              <Link to="/p/$project/r/$region/volumes/$volume" params={{ ...place, volume: id }}>
                {name || id}
              </Link>
            ),
          },
          { name: 'Status', show: ({ status }) => <State of={status} /> },
          { name: 'Size', number: true, show: ({ size }) => `${size} GiB` },
          { name: 'Type', show: ({ volume_type }) => volume_type },
          { name: 'Attached to', show: attachedTo },
          {
            name: 'Task',
            show: ({ task_id }) =>
              task_id && (
                <Link to="/p/$project/r/$region/tasks/$task" params={{ ...place, task: task_id }}>
                  in progress
                </Link>
              ),
          },
          { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
        ]}
        empty={
          Object.keys(filters).length > 0 ? (
            <p>No volume matches these filters.</p>
          ) : (
            <>
              <p>There is no volume in this project and region.</p>
              {create}
            </>
          )
        }
      />
      <Pages count={read.data?.count ?? 0} page={page} />
    </Page>
  );
}

export const attachedTo = ({ attachments }: Volume): string =>
  attachments.map(({ instance_name, server_id, device }) => `${instance_name ?? server_id} ${device ?? ''}`).join(', ');
