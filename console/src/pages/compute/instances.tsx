import { Link } from '@tanstack/react-router';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { useFilters, usePage } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Bulk } from '../../ui/bulk.tsx';
import { ChoiceFilter, TextFilter } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { PAGE_SIZE, Pages } from '../../ui/pages.tsx';
import { useSelection } from '../../ui/selection.tsx';
import { State } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
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

export function Instances() {
  const place = usePlace() as Place;
  const page = usePage();
  const { name, ip, id, status, flavor, nodes, outside, order } = useFilters();
  const init = {
    params: {
      path: pathOf(place),
      query: {
        limit: PAGE_SIZE,
        offset: (page - 1) * PAGE_SIZE,
        ...(name && { name }),
        ...(ip && { ip }),
        ...(id && { uuid: id }),
        ...(status && { status: status as (typeof STATUSES)[number] }),
        ...(flavor && { flavor_prefix: flavor }),
        ...(nodes === 'true' && { include_k8s: true }),
        ...(outside === 'fixed' && { only_with_fixed_external_ip: true }),
        ...(outside === 'free' && { available_floating: true }),
        ...(order && { order_by: order as keyof typeof ORDERS }),
      },
    },
  };
  const read = $api.useQuery('get', LIST, init);
  const selection = useSelection(
    read.data?.results,
    ({ id }) => id,
    ({ name }) => name,
  );
  const filtered = Boolean(name || ip || id || status || flavor || outside);
  return (
    <Page
      title="Instances"
      actions={
        <>
          <AsCode calls={[callOf('get', LIST, init)]} />
          <Link to="/p/$project/r/$region/instances/new" params={place} className="button primary">
            New instance
          </Link>
        </>
      }
    >
      <div className="row filters">
        <TextFilter name="name" label="Name" placeholder="part of the name" />
        <TextFilter name="ip" label="Address" placeholder="10.0.0" />
        <TextFilter name="flavor" label="Flavor" placeholder="begins with" />
        <ChoiceFilter name="status" label="Status" options={STATUSES.map((value) => ({ value, text: value }))} />
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
        <ChoiceFilter
          name="order"
          label="Order"
          options={Object.entries(ORDERS).map(([value, text]) => ({ value, text }))}
          none="the newest first"
        />
      </div>
      <div className="row">
        {(Object.keys(ACTIONS) as (keyof typeof ACTIONS)[]).map((action) => (
          <Bulk
            key={action}
            operation="actOnInstance"
            label={ACTIONS[action]}
            tone="quiet"
            items={selection.chosen.map(({ id, name }) => ({ id, name, call: actionOn(place, id, action) }))}
            onDone={selection.drop}
          />
        ))}
        <Bulk
          operation="deleteInstance"
          label="Delete"
          items={selection.chosen.map(({ id, name }) => ({
            id,
            name,
            call: callOf('delete', ONE, { params: { path: { ...pathOf(place), instance_id: id } } }),
          }))}
          onDone={selection.drop}
        />
      </div>
      <Table
        caption="Instances"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          selection.column,
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
        empty={
          filtered ? (
            <p>No instance is like this.</p>
          ) : (
            <>
              <p>There is no instance in this project and region.</p>
              <Link to="/p/$project/r/$region/instances/new" params={place} className="button primary">
                New instance
              </Link>
            </>
          )
        }
      />
      <Pages count={read.data?.count ?? 0} page={page} />
    </Page>
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
