import { Link, useParams } from '@tanstack/react-router';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import type { Search } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { optionsOf } from '../../ui/choice.tsx';
import { Unread } from '../../ui/fault.tsx';
import { CheckField, SelectField, TextField, useForm } from '../../ui/field.tsx';
import { ChoiceFilter, TextFilter } from '../../ui/filters.tsx';
import { Json } from '../../ui/json.tsx';
import { ListPage, useRead } from '../../ui/list-page.tsx';
import { NewForm, Page, UnreadPage, useNewForm } from '../../ui/page.tsx';
import { pagingOf } from '../../ui/pages.tsx';
import { Review } from '../../ui/review.tsx';
import { State } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { Changing, LoadBalancerLink } from './links.tsx';

const LIST = '/cloud/v1/loadbalancers/{project_id}/{region_id}';
const ONE = '/cloud/v1/loadbalancers/{project_id}/{region_id}/{load_balancer_id}';
const LISTENERS = '/cloud/v1/lblisteners/{project_id}/{region_id}';
const POOLS = '/cloud/v1/lbpools/{project_id}/{region_id}';
const WORKING = ['ONLINE', 'DEGRADED', 'ERROR', 'OFFLINE', 'NO_MONITOR', 'DRAINING'] as const;
const BUILT = ['ACTIVE', 'ERROR', 'PENDING_CREATE', 'PENDING_UPDATE', 'PENDING_DELETE'] as const;
const ORDERS = {
  'name.asc': 'by name',
  'created_at.asc': 'the oldest first',
  'operating_status.asc': 'by how they work',
} as const;

LoadBalancers.reads = (search: Search, place: Place) => {
  const { name, working, built, floating, order } = search;
  return $api.queryOptions('get', LIST, {
    params: {
      path: pathOf(place),
      query: {
        ...pagingOf(search),
        ...(name && { name }),
        ...(working && { operating_status: working as (typeof WORKING)[number] }),
        ...(built && { provisioning_status: built as (typeof BUILT)[number] }),
        ...(floating && { assigned_floating: floating === 'yes' }),
        ...(order && { order_by: order as keyof typeof ORDERS }),
      },
    },
  });
};

export function LoadBalancers() {
  const {
    read,
    call,
    filters: { name, working, built, floating },
    place,
  } = useRead(LoadBalancers.reads);
  return (
    <ListPage
      title="Load balancers"
      call={call}
      read={read}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      bulk={[
        {
          operation: 'deleteLoadBalancer',
          label: 'Delete',
          done: 'Deleted',
          call: ({ id }) => callOf('delete', ONE, { params: { path: { ...pathOf(place), load_balancer_id: id } } }),
        },
      ]}
      bulkBelow
      filters={
        <>
          <TextFilter name="name" label="Name" placeholder="part of the name" />
          <ChoiceFilter name="working" label="Works" options={optionsOf(WORKING)} />
          <ChoiceFilter name="built" label="Built" options={optionsOf(BUILT)} />
          <ChoiceFilter name="floating" label="Floating IP" options={optionsOf(['yes', 'no'])} />
          <ChoiceFilter name="order" label="Order" options={optionsOf(ORDERS)} none="the newest first" />
        </>
      }
      empty={
        name || working || built || floating
          ? 'No load balancer is like this.'
          : 'There is no load balancer in this project and region.'
      }
      columns={[
        { name: 'Name', show: ({ id, name }) => <LoadBalancerLink id={id} name={name} /> },
        { name: 'Works', show: ({ operating_status }) => <State of={operating_status} /> },
        { name: 'Built', show: ({ provisioning_status }) => <State of={provisioning_status} /> },
        { name: 'Address', show: ({ vip_address }) => <span className="mono">{vip_address ?? ''}</span> },
        {
          name: 'Floating IPs',
          show: ({ floating_ips }) => (
            <span className="mono">
              {floating_ips.map(({ floating_ip_address }) => floating_ip_address).join(', ')}
            </span>
          ),
        },
        { name: 'Flavor', show: ({ flavor }) => flavor?.flavor_name ?? '' },
        { name: 'Listeners', number: true, show: ({ listeners }) => listeners.length },
        { name: 'Task', show: ({ task_id }) => <Changing task={task_id} /> },
        { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
      ]}
    >
      <NewLoadBalancer />
    </ListPage>
  );
}

function NewLoadBalancer() {
  const place = usePlace() as Place;
  const path = pathOf(place);
  const { values, field, reset, take } = useForm({ name: '', flavor: '', vip_network_id: '', floating: false });
  const [open] = useNewForm();
  const flavors = $api.useQuery(
    'get',
    '/cloud/v1/lbflavors/{project_id}/{region_id}',
    { params: { path, query: { limit: 1000 } } },
    { enabled: open },
  );
  const networks = $api.useQuery(
    'get',
    '/cloud/v1/networks/{project_id}/{region_id}',
    { params: { path, query: { limit: 1000, external: false } } },
    { enabled: open },
  );
  return (
    <NewForm title="New load balancer">
      <p className="help">Listeners and pools are added afterwards.</p>
      <TextField label="Name" required maxLength={63} {...field('name')} />
      <SelectField
        label="Flavor"
        options={[
          { value: '', text: 'the smallest' },
          ...(flavors.data?.results ?? []).map(({ flavor_id, flavor_name }) => ({
            value: flavor_id,
            text: flavor_name,
          })),
        ]}
        {...field('flavor')}
      />
      <SelectField
        label="Network"
        options={[
          { value: '', text: 'the internet: a public address' },
          ...(networks.data?.results ?? []).map(({ id, name }) => ({ value: id, text: name })),
        ]}
        {...field('vip_network_id')}
      />
      {values.vip_network_id && <CheckField label="With a new floating IP" {...field('floating')} />}
      <div className="row">
        <Review
          operation="createLoadBalancer"
          label="Create"
          title={`Create load balancer ${values.name}?`}
          tone="primary"
          disabled={values.name === '' ? 'Give it a name first' : undefined}
          call={() =>
            callOf('post', LIST, {
              params: { path },
              body: {
                name: values.name,
                ...(values.flavor && { flavor: values.flavor }),
                ...(values.vip_network_id && { vip_network_id: values.vip_network_id }),
                ...(values.vip_network_id && values.floating && { floating_ip: { source: 'new' } as never }),
              },
            })
          }
          onRefused={take}
          onApplied={() => reset()}
        />
      </div>
    </NewForm>
  );
}

const TABS = { overview: 'Overview', listeners: 'Listeners', pools: 'Pools', json: 'JSON' };

/** One load balancer, with its listeners, pools and members. */
export function LoadBalancerPage() {
  const { balancer: id } = useParams({ from: '/p/$project/r/$region/load-balancers/$balancer' });
  const place = usePlace() as Place;
  const tab = useTab(TABS);
  const one = { params: { path: { ...pathOf(place), load_balancer_id: id } } };
  const parts = { params: { path: pathOf(place), query: { load_balancer_id: id } } };
  const { data, error, refetch } = $api.useQuery('get', ONE, one);
  if (!data) return <UnreadPage title="Load balancer" error={error} again={refetch} />;
  return (
    <Page
      title={data.name}
      crumbs={[
        <Link key="balancers" to="/p/$project/r/$region/load-balancers" params={place}>
          Load balancers
        </Link>,
      ]}
      actions={
        <>
          <Review
            operation="deleteLoadBalancer"
            label="Delete"
            title={`Delete load balancer ${data.name}?`}
            tone="danger"
            call={() => callOf('delete', ONE, one)}
          />
          <AsCode calls={[callOf('get', ONE, one), callOf('get', LISTENERS, parts), callOf('get', POOLS, parts)]} />
        </>
      }
    >
      <Tabs tabs={TABS} label="Parts of the load balancer" />
      {tab === 'overview' && (
        <div className="card">
          <dl className="facts inside">
            <dt>Works</dt>
            <dd>
              <State of={data.operating_status} />
            </dd>
            <dt>Built</dt>
            <dd className="row">
              <State of={data.provisioning_status} /> <Changing task={data.task_id} />
            </dd>
            <dt>Address</dt>
            <dd className="mono">
              {[data.vip_address, ...data.additional_vips.map(({ ip_address }) => ip_address)]
                .filter(Boolean)
                .join(', ')}
            </dd>
            <dt>Floating IPs</dt>
            <dd className="mono">
              {data.floating_ips.map(({ floating_ip_address }) => floating_ip_address).join(', ') || '–'}
            </dd>
            <dt>Flavor</dt>
            <dd>{data.flavor?.flavor_name ?? '–'}</dd>
            <dt>Logging</dt>
            <dd>{data.logging?.enabled ? `to ${data.logging.topic_name}` : 'off'}</dd>
            <dt>Created</dt>
            <dd>
              <Time at={data.created_at} />
            </dd>
          </dl>
        </div>
      )}
      {tab === 'listeners' && <Listeners id={id} />}
      {tab === 'pools' && <Pools id={id} />}
      {tab === 'json' && <Json of={data} />}
    </Page>
  );
}

function Listeners({ id }: { id: string }) {
  const place = usePlace() as Place;
  const read = $api.useQuery('get', LISTENERS, {
    params: { path: pathOf(place), query: { load_balancer_id: id, limit: 1000 } },
  });
  return (
    <Table
      caption="Listeners of the load balancer"
      read={read}
      keyOf={({ id }) => id}
      columns={[
        { name: 'Name', show: ({ name }) => name },
        { name: 'Protocol', show: ({ protocol }) => protocol },
        { name: 'Port', number: true, show: ({ protocol_port }) => protocol_port },
        { name: 'Works', show: ({ operating_status }) => <State of={operating_status} /> },
        { name: 'Built', show: ({ provisioning_status }) => <State of={provisioning_status} /> },
        { name: 'Pools', number: true, show: ({ pool_count }) => pool_count },
        { name: 'For', show: ({ allowed_cidrs }) => allowed_cidrs?.join(', ') || 'anywhere' },
      ]}
      empty={<p>This load balancer has no listener, so it takes no connections.</p>}
    />
  );
}

function Pools({ id }: { id: string }) {
  const place = usePlace() as Place;
  const { data, error, refetch } = $api.useQuery('get', POOLS, {
    params: { path: pathOf(place), query: { load_balancer_id: id, details: true, limit: 1000 } },
  });
  if (!data) return <Unread error={error} again={refetch} />;
  if (data.count === 0) return <p className="card empty">This load balancer has no pool.</p>;
  return data.results.map((pool) => (
    <section key={pool.id} className="card" aria-label={`Pool ${pool.name}`}>
      <header>
        <h2>{pool.name}</h2>
        <State of={pool.operating_status} />
        <span className="muted">
          {pool.protocol}, {pool.lb_algorithm.toLowerCase().replaceAll('_', ' ')}
          {pool.healthmonitor
            ? `, checked by ${pool.healthmonitor.type} every ${pool.healthmonitor.delay} s`
            : ', not checked'}
        </span>
      </header>
      <Table
        caption={`Members of pool ${pool.name}`}
        read={{ data: pool.members, error: null, refetch }}
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'Member',
            show: ({ id, address, protocol_port }) => (
              <span className="mono">{address ? `${address}:${protocol_port}` : id}</span>
            ),
          },
          { name: 'Works', show: ({ operating_status }) => operating_status && <State of={operating_status} /> },
          { name: 'Weight', number: true, show: ({ weight }) => weight },
          { name: 'Backup', show: ({ backup }) => (backup ? 'yes' : 'no') },
        ]}
        empty={<p>This pool has no members.</p>}
      />
    </section>
  ));
}
