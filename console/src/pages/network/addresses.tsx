import { useState } from 'react';
import { $api, type ApiError } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { useFilters, usePage } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Bulk } from '../../ui/bulk.tsx';
import { CheckField, SelectField, TextField, takes } from '../../ui/field.tsx';
import { ChoiceFilter, TextFilter } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { PAGE_SIZE, Pages } from '../../ui/pages.tsx';
import { Review } from '../../ui/review.tsx';
import { useSelection } from '../../ui/selection.tsx';
import { State } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { Changing, InstanceLink, LoadBalancerLink, NetworkLink, QuestionLink } from './links.tsx';

const FLOATING = '/cloud/v1/floatingips/{project_id}/{region_id}';
const FLOATING_ONE = '/cloud/v1/floatingips/{project_id}/{region_id}/{floating_ip_id}';
const RESERVED = '/cloud/v1/reserved_fixed_ips/{project_id}/{region_id}';
const RESERVED_ONE = '/cloud/v1/reserved_fixed_ips/{project_id}/{region_id}/{port_id}';

const FLOATING_STATES = ['ACTIVE', 'DOWN', 'ERROR'] as const;

export function FloatingIps() {
  const place = usePlace() as Place;
  const page = usePage();
  const { status } = useFilters();
  const init = {
    params: {
      path: pathOf(place),
      query: {
        limit: PAGE_SIZE,
        offset: (page - 1) * PAGE_SIZE,
        ...(status && { status: status as (typeof FLOATING_STATES)[number] }),
      },
    },
  };
  const read = $api.useQuery('get', FLOATING, init);
  const selection = useSelection(
    read.data?.results,
    ({ id }) => id,
    ({ floating_ip_address }) => floating_ip_address,
  );
  const one = (id: string) => ({ params: { path: { ...pathOf(place), floating_ip_id: id } } });
  return (
    <Page
      title="Floating IPs"
      actions={
        <>
          <AsCode calls={[callOf('get', FLOATING, init)]} />
          <Review
            operation="createFloatingIp"
            label="New floating IP"
            title="Allocate a floating IP?"
            tone="primary"
            call={() => callOf('post', FLOATING, { params: { path: pathOf(place) }, body: {} })}
          />
        </>
      }
    >
      <div className="row filters">
        <ChoiceFilter name="status" label="Status" options={FLOATING_STATES.map((value) => ({ value, text: value }))} />
      </div>
      <div className="row">
        <Bulk
          operation="unassignFloatingIp"
          label="Unassign"
          tone="quiet"
          items={selection.chosen.map(({ id, floating_ip_address: name }) => ({
            id,
            name,
            call: callOf('post', '/cloud/v1/floatingips/{project_id}/{region_id}/{floating_ip_id}/unassign', one(id)),
          }))}
          onDone={selection.drop}
        />
        <Bulk
          operation="deleteFloatingIp"
          label="Delete"
          items={selection.chosen.map(({ id, floating_ip_address: name }) => ({
            id,
            name,
            call: callOf('delete', FLOATING_ONE, one(id)),
          }))}
          onDone={selection.drop}
        />
      </div>
      <Table
        caption="Floating IPs, the newest first"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          selection.column,
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
                <QuestionLink asked={{ to: port_id }}>
                  What reaches it<span className="hidden"> ({floating_ip_address})</span>
                </QuestionLink>
              ),
          },
          { name: 'Task', show: ({ task_id }) => <Changing task={task_id} /> },
          { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
        ]}
        empty={<p>There is no floating IP {status ? 'with this status' : 'in this project and region'}.</p>}
      />
      <Pages count={read.data?.count ?? 0} page={page} />
    </Page>
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
          <SelectField
            label="Port"
            value={chosen ?? ''}
            options={found.map(({ port_id, ip_assignments, network_details }) => ({
              value: port_id,
              text: `${ip_assignments.map(({ ip_address }) => ip_address).join(', ')} in ${network_details.name}`,
            }))}
            onChange={setPort}
          />
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

export function ReservedIps() {
  const place = usePlace() as Place;
  const page = usePage();
  const { ip, kind, use, order } = useFilters();
  const init = {
    params: {
      path: pathOf(place),
      query: {
        limit: PAGE_SIZE,
        offset: (page - 1) * PAGE_SIZE,
        ...(ip && { ip_address: ip }),
        ...(kind === 'external' && { external_only: true }),
        ...(kind === 'internal' && { internal_only: true }),
        ...(use === 'free' && { available_only: true }),
        ...(use === 'vip' && { vip_only: true }),
        ...(order && { order_by: order as keyof typeof ORDERS }),
      },
    },
  };
  const read = $api.useQuery('get', RESERVED, init);
  const rows = read.data?.results.map((row) => ({
    ...row,
    id: row.port_id,
    name: row.fixed_ip_address ?? row.fixed_ipv6_address ?? row.name,
  }));
  const selection = useSelection(
    rows,
    ({ id }) => id,
    ({ name }) => name,
  );
  return (
    <Page title="Reserved fixed IPs" actions={<AsCode calls={[callOf('get', RESERVED, init)]} />}>
      <NewReservedIp />
      <div className="row filters">
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
        <ChoiceFilter
          name="order"
          label="Order"
          options={Object.entries(ORDERS).map(([value, text]) => ({ value, text }))}
          none="as the API has it"
        />
      </div>
      <div className="row">
        <Bulk
          operation="deleteReservedFixedIp"
          label="Delete"
          items={selection.chosen.map(({ id, name }) => ({
            id,
            name,
            call: callOf('delete', RESERVED_ONE, { params: { path: { ...pathOf(place), port_id: id } } }),
          }))}
          onDone={selection.drop}
        />
      </div>
      <Table
        caption="Reserved fixed IPs"
        read={{ ...read, data: read.data && rows && { count: read.data.count, results: rows } }}
        keyOf={({ id }) => id}
        columns={[
          selection.column,
          { name: 'Address', show: ({ name }) => <span className="mono">{name}</span> },
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
            show: ({ id, name, is_vip }) => (
              <span className="row tight">
                {is_vip ? 'yes' : 'no'}
                <Review
                  operation="updateReservedFixedIp"
                  label={is_vip ? 'End' : 'Make it one'}
                  title={is_vip ? `Make ${name} no VIP?` : `Make ${name} a VIP?`}
                  tone="quiet"
                  call={() =>
                    callOf('patch', RESERVED_ONE, {
                      params: { path: { ...pathOf(place), port_id: id } },
                      body: { is_vip: !is_vip },
                    })
                  }
                />
              </span>
            ),
          },
          { name: 'Task', show: ({ task_id }) => <Changing task={task_id} /> },
          { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
        ]}
        empty={<p>There is no reserved fixed IP {ip || kind || use ? 'like this' : 'in this project and region'}.</p>}
      />
      <Pages count={read.data?.count ?? 0} page={page} />
    </Page>
  );
}

function NewReservedIp() {
  const place = usePlace() as Place;
  const [form, setForm] = useState({ where: 'external', address: '', vip: false });
  const [faults, setFaults] = useState<ApiError['fields']>({});
  const networks = $api.useQuery('get', '/cloud/v1/networks/{project_id}/{region_id}', {
    params: { path: pathOf(place), query: { limit: 1000, external: false } },
  });
  const is_vip = form.vip;
  function body() {
    if (form.where === 'external') return { type: 'external' as const, is_vip };
    const network_id = form.where;
    return form.address === ''
      ? { type: 'any_subnet' as const, network_id, is_vip }
      : { type: 'ip_address' as const, network_id, ip_address: form.address, is_vip };
  }
  return (
    <details className="card">
      <summary className="inside">New reserved fixed IP</summary>
      <form className="form inside" onSubmit={(event) => event.preventDefault()}>
        <SelectField
          label="Network"
          value={form.where}
          options={[
            { value: 'external', text: 'the internet: a public address' },
            ...(networks.data?.results ?? []).map(({ id, name }) => ({ value: id, text: name })),
          ]}
          onChange={(where) => setForm({ ...form, where })}
          faults={faults.network_id}
        />
        {form.where !== 'external' && (
          <TextField
            label="This address"
            help="Empty: the next free one"
            placeholder="10.0.0.10"
            value={form.address}
            onChange={(address) => setForm({ ...form, address })}
            faults={faults.ip_address}
          />
        )}
        <CheckField
          label="Several instances may share it (VIP)"
          value={form.vip}
          onChange={(vip) => setForm({ ...form, vip })}
        />
        <div className="row">
          <Review
            operation="createReservedFixedIp"
            label="Reserve"
            title="Reserve a fixed IP?"
            tone="primary"
            call={() => callOf('post', RESERVED, { params: { path: pathOf(place) }, body: body() as never })}
            onRefused={(error) => {
              setFaults(error.fields);
              return takes(error, (name) => ['network_id', 'ip_address'].includes(name));
            }}
            onApplied={() => setFaults({})}
          />
        </div>
      </form>
    </details>
  );
}
