import { Link } from '@tanstack/react-router';
import type { components } from '../../../types/api.d.ts';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf } from '../../lib/place.ts';
import { only, type Search } from '../../lib/search.ts';
import { ChoiceFilter, TextFilter } from '../../ui/filters.tsx';
import { ListPage, useRead } from '../../ui/list-page.tsx';
import { pagingOf } from '../../ui/pages.tsx';
import { State } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { Changing, InstanceLink, VolumeLink } from '../network/links.tsx';

export type Volume = components['schemas']['Volume'];

const LIST = '/cloud/v1/volumes/{project_id}/{region_id}';
const ONE = '/cloud/v1/volumes/{project_id}/{region_id}/{volume_id}';

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

Volumes.reads = (search: Search, place: Place) =>
  $api.queryOptions('get', LIST, {
    params: { path: pathOf(place), query: { ...only(search, FILTERS), ...pagingOf(search) } },
  });

export function Volumes() {
  const { read, call, filters: search, place } = useRead(Volumes.reads);
  const filters = only(search, FILTERS);
  const filtered = Object.keys(filters).length > 0;
  return (
    <ListPage
      title="Volumes"
      call={call}
      read={read}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      bulk={[
        {
          operation: 'deleteVolume',
          label: 'Delete',
          done: 'Deleted',
          call: ({ id }) => callOf('delete', ONE, { params: { path: { ...pathOf(place), volume_id: id } } }),
          warning: ({ attachments: [first] }) => first && `attached to ${first.instance_name ?? first.server_id}`,
          link: ({ id, name }) => <VolumeLink id={id} name={name} />,
        },
      ]}
      create={
        <Link className="button primary" to="/p/$project/r/$region/volumes/new" params={place}>
          Create a volume
        </Link>
      }
      filtered={filtered}
      filters={
        <>
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
        </>
      }
      empty={filtered ? 'No volume matches these filters.' : 'There is no volume in this project and region.'}
      columns={[
        {
          name: 'Name',
          show: ({ id, name }) => <VolumeLink id={id} name={name} />,
        },
        { name: 'Status', show: ({ status }) => <State of={status} /> },
        { name: 'Size', number: true, show: ({ size }) => `${size} GiB` },
        { name: 'Type', show: ({ volume_type }) => volume_type },
        { name: 'Attached to', show: ({ attachments }) => <AttachedTo of={attachments} /> },
        { name: 'Task', show: ({ task_id }) => <Changing task={task_id} /> },
        { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
      ]}
    />
  );
}

/** The instances that a volume is attached to, with the device that it is there. */
export function AttachedTo({ of }: { of: Volume['attachments'] }) {
  return of.map(({ attachment_id, instance_name, server_id, device }, at) => (
    <span key={attachment_id}>
      {at > 0 && ', '}
      {server_id === null ? instance_name : <InstanceLink id={server_id} name={instance_name ?? server_id} />}{' '}
      <code>{device}</code>
    </span>
  ));
}
