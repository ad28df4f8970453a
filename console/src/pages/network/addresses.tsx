import { useState } from 'react';
import type { components } from '../../../types/api.d.ts';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import type { Search } from '../../lib/search.ts';
import { optionsOf } from '../../ui/choice.tsx';
import { CheckField, SelectField, TextField, useForm } from '../../ui/field.tsx';
import { ChoiceFilter, TextFilter } from '../../ui/filters.tsx';
import { ListPage, useRead } from '../../ui/list-page.tsx';
import { NewForm, useNewForm } from '../../ui/page.tsx';
import { pagingOf } from '../../ui/pages.tsx';
import { Review } from '../../ui/review.tsx';
import { State } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { portOption } from '../compute/ports.tsx';
import { Changing, INTERNET, InstanceLink, LoadBalancerLink, NetworkLink, QuestionLink } from './links.tsx';

const FLOATING = '/cloud/v1/floatingips/{project_id}/{region_id}';
const FLOATING_ONE = '/cloud/v1/floatingips/{project_id}/{region_id}/{floating_ip_id}';
const RESERVED = '/cloud/v1/reserved_fixed_ips/{project_id}/{region_id}';
const RESERVED_ONE = '/cloud/v1/reserved_fixed_ips/{project_id}/{region_id}/{port_id}';

const FLOATING_STATES = ['ACTIVE', 'DOWN', 'ERROR'] as const;

FloatingIps.reads = (search: Search, place: Place) => {
  const { status } = search;
  return $api.queryOptions('get', FLOATING, {
    params: {
      path: pathOf(place),
      query: {
        ...pagingOf(search),
        ...(status && { status: status as (typeof FLOATING_STATES)[number] }),
      },
    },
  });
};

export function FloatingIps() {
  const {
    read,
    call,
    filters: { status },
    place,
  } = useRead(FloatingIps.reads);
  const one = (id: string) => ({ params: { path: { ...pathOf(place), floating_ip_id: id } } });
  return (
    <ListPage
      title="Floating IPs"
      caption="Floating IPs, the newest first"
      call={call}
      read={read}
      keyOf={({ id }) => id}
      nameOf={({ floating_ip_address }) => floating_ip_address}
      bulk={[
        {
          operation: 'unassignFloatingIp',
          label: 'Unassign',
          done: 'Unassigned',
          tone: 'quiet',
          call: ({ id }) =>
            callOf('post', '/cloud/v1/floatingips/{project_id}/{region_id}/{floating_ip_id}/unassign', one(id)),
        },
        {
          operation: 'deleteFloatingIp',
          label: 'Delete',
          done: 'Deleted',
          call: ({ id }) => callOf('delete', FLOATING_ONE, one(id)),
        },
      ]}
      bulkBelow
      more={
        <Review
          operation="createFloatingIp"
          label="New floating IP"
          title="Allocate a floating IP?"
          tone="primary"
          call={() => callOf('post', FLOATING, { params: { path: pathOf(place) }, body: {} })}
        />
      }
      filters={<ChoiceFilter name="status" label="Status" options={optionsOf(FLOATING_STATES)} />}
      empty={`There is no floating IP ${status ? 'with this status' : 'in this project and region'}.`}
      columns={[
        { name: 'Address', show: ({ floating_ip_address }) => <span className="mono">{floating_ip_address}</span> },
        { name: 'Status', show: ({ status }) => (status ? <State of={status} /> : '') },
        {
          name: 'Leads to',
          show: ({ id, instance, loadbalancer, fixed_ip_address, port_id, floating_ip_address }) => {
            if (port_id === null) return <Assign id={id} address={floating_ip_address} />;
            return (
              <span className="row tight">
                {instance && <InstanceLink id={instance.id} name={instance.name} />}
                {loadbalancer && <LoadBalancerLink id={loadbalancer.id} name={loadbalancer.name} />}
                <span className="mono">{fixed_ip_address}</span>
              </span>
            );
          },
        },
        {
          name: 'Reachability',
          show: ({ port_id, floating_ip_address }) =>
            port_id && (
              <QuestionLink asked={{ from: INTERNET, to: port_id }}>
                What reaches it<span className="hidden"> ({floating_ip_address})</span>
              </QuestionLink>
            ),
        },
        { name: 'Task', show: ({ task_id }) => <Changing task={task_id} /> },
        { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
      ]}
    />
  );
}

const INTERFACES = '/cloud/v1/instances/{project_id}/{region_id}/{instance_id}/interfaces';

/** Leads an address to a port of an instance that has none yet. */
function Assign({ id, address }: { id: string; address: string }) {
  const place = usePlace() as Place;
  const [open, setOpen] = useState(false);
  const [instance, setInstance] = useState('');
  const [port, setPort] = useState('');
  const free = $api.useQuery(
    'get',
    '/cloud/v1/instances/{project_id}/{region_id}',
    { params: { path: pathOf(place), query: { available_floating: true, limit: 1000, order_by: 'name.asc' } } },
    { enabled: open },
  );
  const ports = $api.useQuery(
    'get',
    INTERFACES,
    { params: { path: { ...pathOf(place), instance_id: instance }, query: { limit: 100 } } },
    { enabled: instance !== '' },
  );
  const found = (ports.data?.results ?? []).filter(
    ({ network_details, floatingip_details }) => !network_details.external && floatingip_details.length === 0,
  );
  const chosen = port || found[0]?.port_id;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        nothing: assign it<span className="hidden"> ({address})</span>
      </summary>
      <div className="form">
        <SelectField
          label="Instance"
          value={instance}
          options={[
            { value: '', text: free.data?.count === 0 ? 'none has room for one' : 'choose one' },
            ...(free.data?.results ?? []).map(({ id, name }) => ({ value: id, text: name })),
          ]}
          onChange={(next) => {
            setInstance(next);
            setPort('');
          }}
        />
        {instance && (
          <SelectField label="Port" value={chosen ?? ''} options={found.map(portOption)} onChange={setPort} />
        )}
        <div className="row">
          <Review
            operation="assignFloatingIp"
            label="Assign"
            title={`Assign ${address}?`}
            tone="primary"
            disabled={chosen === undefined ? 'Choose an instance first' : undefined}
            call={() =>
              chosen === undefined
                ? undefined
                : callOf('post', '/cloud/v1/floatingips/{project_id}/{region_id}/{floating_ip_id}/assign', {
                    params: { path: { ...pathOf(place), floating_ip_id: id } },
                    body: { port_id: chosen },
                  })
            }
          />
        </div>
      </div>
    </details>
  );
}

const ORDERS = {
  'created_at.desc': 'the newest first',
  'fixed_ip_address.asc': 'by address',
  'status.asc': 'by status',
} as const;

const addressOf = (row: components['schemas']['ReservedFixedIp']): string =>
  row.fixed_ip_address ?? row.fixed_ipv6_address ?? row.name;

ReservedIps.reads = (search: Search, place: Place) => {
  const { ip, kind, use, order } = search;
  return $api.queryOptions('get', RESERVED, {
    params: {
      path: pathOf(place),
      query: {
        ...pagingOf(search),
        ...(ip && { ip_address: ip }),
        ...(kind === 'external' && { external_only: true }),
        ...(kind === 'internal' && { internal_only: true }),
        ...(use === 'free' && { available_only: true }),
        ...(use === 'vip' && { vip_only: true }),
        ...(order && { order_by: order as keyof typeof ORDERS }),
      },
    },
  });
};

export function ReservedIps() {
  const {
    read,
    call,
    filters: { ip, kind, use },
    place,
  } = useRead(ReservedIps.reads);
  return (
    <ListPage
      title="Reserved fixed IPs"
      call={call}
      read={read}
      keyOf={({ port_id }) => port_id}
      nameOf={addressOf}
      bulk={[
        {
          operation: 'deleteReservedFixedIp',
          label: 'Delete',
          call: ({ port_id }) => callOf('delete', RESERVED_ONE, { params: { path: { ...pathOf(place), port_id } } }),
        },
      ]}
      bulkBelow
      filters={
        <>
          <TextFilter name="ip" label="Address" placeholder="part of it" />
          <ChoiceFilter
            name="kind"
            label="Where"
            options={[
              { value: 'external', text: 'the internet' },
              { value: 'internal', text: 'own networks' },
            ]}
          />
          <ChoiceFilter
            name="use"
            label="Use"
            options={[
              { value: 'free', text: 'free ones' },
              { value: 'vip', text: 'VIPs' },
            ]}
          />
          <ChoiceFilter name="order" label="Order" options={optionsOf(ORDERS)} none="as the API has it" />
        </>
      }
      empty={`There is no reserved fixed IP ${ip || kind || use ? 'like this' : 'in this project and region'}.`}
      columns={[
        { name: 'Address', show: (row) => <span className="mono">{addressOf(row)}</span> },
        { name: 'Status', show: ({ status }) => <State of={status} /> },
        {
          name: 'Used by',
          show: ({ reservation: { resource_type, resource_id } }) => {
            if (!resource_id) return <span className="muted">nothing</span>;
            return resource_type === 'loadbalancer' ? (
              <LoadBalancerLink id={resource_id} />
            ) : (
              <InstanceLink id={resource_id} />
            );
          },
        },
        { name: 'Network', show: ({ network }) => <NetworkLink id={network.id} name={network.name} /> },
        {
          name: 'VIP',
          show: (row) => (
            <span className="row tight">
              {row.is_vip ? 'yes' : 'no'}
              <Review
                operation="updateReservedFixedIp"
                label={row.is_vip ? 'End' : 'Make it one'}
                title={`Make ${addressOf(row)} ${row.is_vip ? 'no' : 'a'} VIP?`}
                tone="quiet"
                call={() =>
                  callOf('patch', RESERVED_ONE, {
                    params: { path: { ...pathOf(place), port_id: row.port_id } },
                    body: { is_vip: !row.is_vip },
                  })
                }
              />
            </span>
          ),
        },
        { name: 'Task', show: ({ task_id }) => <Changing task={task_id} /> },
        { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
      ]}
    >
      <NewReservedIp />
    </ListPage>
  );
}

function NewReservedIp() {
  const place = usePlace() as Place;
  const { values, field, reset, take } = useForm({ network_id: 'external', ip_address: '', vip: false });
  const [open] = useNewForm();
  const networks = $api.useQuery(
    'get',
    '/cloud/v1/networks/{project_id}/{region_id}',
    { params: { path: pathOf(place), query: { limit: 1000, external: false } } },
    { enabled: open },
  );
  function body() {
    const { network_id, ip_address, vip: is_vip } = values;
    if (network_id === 'external') return { type: 'external' as const, is_vip };
    return ip_address === ''
      ? { type: 'any_subnet' as const, network_id, is_vip }
      : { type: 'ip_address' as const, network_id, ip_address, is_vip };
  }
  return (
    <NewForm title="New reserved fixed IP">
      <SelectField
        label="Network"
        options={[
          { value: 'external', text: 'the internet: a public address' },
          ...(networks.data?.results ?? []).map(({ id, name }) => ({ value: id, text: name })),
        ]}
        {...field('network_id')}
      />
      {values.network_id !== 'external' && (
        <TextField
          label="This address"
          help="Empty: the next free one"
          placeholder="10.0.0.10"
          {...field('ip_address')}
        />
      )}
      <CheckField label="Several instances may share it (VIP)" {...field('vip')} />
      <div className="row">
        <Review
          operation="createReservedFixedIp"
          label="Reserve"
          title="Reserve a fixed IP?"
          tone="primary"
          call={() => callOf('post', RESERVED, { params: { path: pathOf(place) }, body: body() as never })}
          onRefused={take}
          onApplied={() => reset(values)}
        />
      </div>
    </NewForm>
  );
}
