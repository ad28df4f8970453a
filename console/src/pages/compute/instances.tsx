import { Link } from '@tanstack/react-router';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf } from '../../lib/place.ts';
import type { Search } from '../../lib/search.ts';
import { optionsOf } from '../../ui/choice.tsx';
import { ChoiceFilter, TextFilter } from '../../ui/filters.tsx';
import { ListPage, useRead } from '../../ui/list-page.tsx';
import { pagingOf } from '../../ui/pages.tsx';
import { State } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { Changing, InstanceLink } from '../network/links.tsx';

const LIST = '/cloud/v1/instances/{project_id}/{region_id}';
const ONE = '/cloud/v1/instances/{project_id}/{region_id}/{instance_id}';
const ACT = '/cloud/v2/instances/{project_id}/{region_id}/{instance_id}/action';

/** What can be done to instances, by the names of the API. */
export const ACTIONS = {
  start: 'Start',
  stop: 'Stop',
  reboot: 'Reboot',
} as const;
const DONE = { start: 'Started', stop: 'Stopped', reboot: 'Rebooted' } as const;
export type InstanceAction = keyof typeof ACTIONS | 'reboot_hard' | 'suspend' | 'resume';

/** The request that starts, stops or reboots an instance. */
export const actionOn = (place: Place, id: string, action: InstanceAction) =>
  callOf('post', ACT, { params: { path: { ...pathOf(place), instance_id: id } }, body: { action } as never });

const STATUSES = ['ACTIVE', 'SHUTOFF', 'BUILD', 'ERROR', 'REBOOT', 'SUSPENDED', 'RESIZE', 'VERIFY_RESIZE'] as const;
const ORDERS = {
  'created.asc': 'the oldest first',
  'name.asc': 'by name',
  'name.desc': 'by name, backwards',
  'status.asc': 'by status',
} as const;

Instances.reads = (search: Search, place: Place) => {
  const { name, ip, id, status, flavor, nodes, outside, order } = search;
  return $api.queryOptions('get', LIST, {
    params: {
      path: pathOf(place),
      query: {
        ...pagingOf(search),
        ...(name && { name }),
        ...(ip && { ip }),
        ...(id && { uuid: id }),
        ...(status && { status: status as (typeof STATUSES)[number] }),
        ...(flavor && { flavor_prefix: flavor }),
        ...(nodes !== 'true' && { include_k8s: false }),
        ...(outside === 'fixed' && { only_with_fixed_external_ip: true }),
        ...(outside === 'free' && { available_floating: true }),
        ...(order && { order_by: order as keyof typeof ORDERS }),
      },
    },
  });
};

export function Instances() {
  const {
    read,
    call,
    filters: { name, ip, id, status, flavor, outside },
    place,
  } = useRead(Instances.reads);
  const filtered = Boolean(name || ip || id || status || flavor || outside);
  return (
    <ListPage
      title="Instances"
      call={call}
      read={read}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      bulk={[
        ...(Object.keys(ACTIONS) as (keyof typeof ACTIONS)[]).map((action) => ({
          operation: 'actOnInstance',
          label: ACTIONS[action],
          done: DONE[action],
          tone: 'quiet' as const,
          call: ({ id }: { id: string }) => actionOn(place, id, action),
        })),
        {
          operation: 'deleteInstance',
          label: 'Delete',
          done: 'Deleted',
          call: ({ id }) => callOf('delete', ONE, { params: { path: { ...pathOf(place), instance_id: id } } }),
        },
      ]}
      bulkBelow
      create={
        <Link to="/p/$project/r/$region/instances/new" params={place} className="button primary">
          New instance
        </Link>
      }
      filtered={filtered}
      filters={
        <>
          <TextFilter name="name" label="Name" placeholder="part of the name" />
          <TextFilter name="ip" label="Address" placeholder="10.0.0" />
          <TextFilter name="flavor" label="Flavor" placeholder="begins with" />
          <ChoiceFilter name="status" label="Status" options={optionsOf(STATUSES)} />
          <TextFilter name="id" label="ID" placeholder="part of the ID" />
          <ChoiceFilter
            name="outside"
            label="Public address"
            options={[
              { value: 'fixed', text: 'a fixed one' },
              { value: 'free', text: 'room for a floating IP' },
            ]}
          />
          <ChoiceFilter
            name="nodes"
            label="Nodes of clusters"
            options={[{ value: 'true', text: 'as well' }]}
            none="not shown"
          />
          <ChoiceFilter name="order" label="Order" options={optionsOf(ORDERS)} none="the newest first" />
        </>
      }
      empty={filtered ? 'No instance is like this.' : 'There is no instance in this project and region.'}
      columns={[
        { name: 'Name', show: ({ id, name }) => <InstanceLink id={id} name={name} /> },
        { name: 'Status', show: ({ status }) => <State of={status} /> },
        { name: 'Addresses', show: ({ addresses }) => <Addresses of={addresses} /> },
        { name: 'Flavor', show: ({ flavor }) => flavor.flavor_name },
        {
          name: 'Security groups',
          show: ({ security_groups }) => security_groups.map((group) => group.name).join(', '),
        },
        { name: 'Task', show: ({ task_id }) => <Changing task={task_id} /> },
        { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
      ]}
    />
  );
}

/** The addresses of an instance; those that the internet sees are said to be so. */
export function Addresses({ of }: { of: unknown }) {
  const all = Object.values((of ?? {}) as Record<string, { addr: string; type: string }[]>).flat();
  return (
    <span className="row tight">
      {all.map(({ addr, type }) => (
        <span key={addr} className="mono">
          {addr}
          {type === 'floating' && <span className="muted"> floating</span>}
        </span>
      ))}
    </span>
  );
}
