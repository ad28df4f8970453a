import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, queries, send, whenMade } from '../../lib/api.ts';
import { callOf, newIdempotencyKey } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { type Search, useFilters } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { optionsOf } from '../../ui/choice.tsx';
import { CheckField, TextField, takes, useForm } from '../../ui/field.tsx';
import { ChoiceFilter, TextFilter } from '../../ui/filters.tsx';
import { Json } from '../../ui/json.tsx';
import { ListPage, useRead } from '../../ui/list-page.tsx';
import { NewForm, Page, UnreadPage, useNewForm } from '../../ui/page.tsx';
import { Pages, pagingOf, usePaging } from '../../ui/pages.tsx';
import { Review } from '../../ui/review.tsx';
import { Table } from '../../ui/table.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { tasksIn } from '../../ui/task.tsx';
import { Time } from '../../ui/time.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { useGroups } from './groups.tsx';
import { Changing, GroupLink, INTERNET, InstanceLink, NetworkLink, QuestionLink } from './links.tsx';

const LIST = '/cloud/v1/networks/{project_id}/{region_id}';
const ONE = '/cloud/v1/networks/{project_id}/{region_id}/{network_id}';
const SUBNETS = '/cloud/v1/subnets/{project_id}/{region_id}';
const SUBNET = '/cloud/v1/subnets/{project_id}/{region_id}/{subnet_id}';
const PORTS = '/cloud/v1/ports/{project_id}/{region_id}';
const OWNERS = '/cloud/v1/networks/{project_id}/{region_id}/{network_id}/ports';
const ORDERS = {
  'created_at.desc': 'the newest first',
  'name.asc': 'by name',
  'name.desc': 'by name, backwards',
} as const;

Networks.reads = (search: Search, place: Place) => {
  const { name, owned, order } = search;
  return $api.queryOptions('get', LIST, {
    params: {
      path: pathOf(place),
      query: {
        ...pagingOf(search),
        ...(name && { name }),
        ...(owned === 'any' && { owned_by: 'any' as const }),
        ...(order && { order_by: order as keyof typeof ORDERS }),
      },
    },
  });
};

export function Networks() {
  const {
    read,
    call,
    filters: { name },
    place,
  } = useRead(Networks.reads);
  return (
    <ListPage
      title="Networks"
      call={call}
      read={read}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      bulk={[
        {
          operation: 'deleteNetwork',
          label: 'Delete',
          done: 'Deleted',
          call: ({ id }) => callOf('delete', ONE, { params: { path: { ...pathOf(place), network_id: id } } }),
        },
      ]}
      bulkBelow
      actions={
        <Link to="/p/$project/r/$region/topology" params={place} className="button">
          Topology
        </Link>
      }
      filters={
        <>
          <TextFilter name="name" label="Name" placeholder="the whole name" />
          <ChoiceFilter
            name="owned"
            label="Networks of the platform"
            options={[{ value: 'any', text: 'as well' }]}
            none="not shown"
          />
          <ChoiceFilter name="order" label="Order" options={optionsOf(ORDERS)} none="as the API has it" />
        </>
      }
      empty={name ? 'No network has this name.' : 'There is no network in this project and region.'}
      columns={[
        { name: 'Name', show: ({ id, name }) => <NetworkLink id={id} name={name} /> },
        { name: 'Kind', show: kindOf },
        { name: 'Subnets', number: true, show: ({ subnets }) => subnets.length },
        { name: 'MTU', number: true, show: ({ mtu }) => mtu },
        { name: 'Task', show: ({ task_id }) => <Changing task={task_id} /> },
        { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
      ]}
    >
      <NewNetwork />
    </ListPage>
  );
}

interface Kinds {
  type: string;
  external: boolean;
  shared: boolean;
  default: boolean | null;
}

const kindOf = ({ type, external, shared, default: first }: Kinds): string =>
  [external ? 'the internet' : type, first && 'default', shared && 'of the platform'].filter(Boolean).join(', ');

const EMPTY = { name: '', router: true, cidr: '10.1.0.0/24' };

const isRange = (text: string): boolean => /^(\d+(\.\d+){3}\/\d{1,2}|[\da-f:]*:[\da-f:]*\/\d{1,3})$/i.test(text);

/** Makes a network, and its first subnet once it is there. */
function NewNetwork() {
  const place = usePlace() as Place;
  const said = useToasts();
  const [, setOpen] = useNewForm();
  const { values, field, reset, take } = useForm(EMPTY);
  const cidr = values.cidr.trim();
  const fits = cidr === '' || isRange(cidr);

  /** Goes on while people look at other pages. */
  async function follow(task: string | undefined, { name }: typeof EMPTY): Promise<void> {
    let network: string | undefined;
    const link = (id: string) => (
      <Link to="/p/$project/r/$region/networks/$network" params={{ ...place, network: id }}>
        See {name}
      </Link>
    );
    try {
      if (task === undefined) return;
      network = await whenMade(task, 'networks');
      if (cidr !== '') {
        const call = callOf('post', SUBNETS, {
          params: { path: pathOf(place) },
          body: { name, network_id: network, cidr, enable_dhcp: true, connect_to_network_router: true },
        });
        const answer = await send(call, { 'idempotency-key': newIdempotencyKey() });
        await whenMade(tasksIn(answer)[0] ?? '', 'subnets');
      }
      said.add({
        title: cidr === '' ? 'The network is there' : 'The network is there, with its subnet',
        description: link(network),
      });
    } catch (error) {
      said.add({
        title: network === undefined ? `Network ${name} was not made` : `Network ${name} got no subnet`,
        description: (
          <>
            {(error as Error).message} {network !== undefined && link(network)}
          </>
        ),
        type: 'bad',
        timeout: 0,
      });
    }
    void queries.invalidateQueries();
  }

  return (
    <NewForm title="New network">
      <TextField label="Name" required maxLength={63} {...field('name')} />
      <TextField
        label="Addresses of its first subnet"
        help="Empty: no subnet for now."
        placeholder="10.0.0.0/24"
        {...field('cidr')}
        faults={fits ? undefined : ['Write a range of addresses, such as 10.0.0.0/24.']}
      />
      <CheckField
        label="With a router to the internet"
        help="Machines then reach the internet, and floating IPs can lead to them."
        {...field('router')}
      />
      <div className="row">
        <Review
          operation="createNetwork"
          label="Create"
          title={`Create network ${values.name}?`}
          tone="primary"
          disabled={
            values.name === '' ? 'Give it a name first' : fits ? undefined : 'Correct the addresses of the subnet first'
          }
          call={() =>
            callOf('post', LIST, {
              params: { path: pathOf(place) },
              body: { name: values.name, create_router: values.router, type: 'vxlan' },
            })
          }
          onRefused={take}
          onApplied={(answer) => {
            void follow(tasksIn(answer)[0], values);
            reset();
            setOpen(false);
          }}
        >
          {cidr !== '' && (
            <>
              <ol aria-label="Steps">
                <li>
                  The network {values.name} is made{values.router && ', with a router to the internet'}.
                </li>
                <li>
                  Then its subnet {values.name} is made, with the addresses <code>{cidr}</code>.
                </li>
              </ol>
              <p className="muted">Keep the console open until both are there. Below is what the first step does.</p>
            </>
          )}
        </Review>
      </div>
    </NewForm>
  );
}

const TABS = { subnets: 'Subnets', ports: 'Ports', settings: 'Settings', json: 'JSON' };

/** One network: its subnets and ports. */
export function NetworkPage() {
  const { network: id } = useParams({ from: '/p/$project/r/$region/networks/$network' });
  const place = usePlace() as Place;
  const tab = useTab(TABS);
  const init = { params: { path: { ...pathOf(place), network_id: id } } };
  const { data, error, refetch } = $api.useQuery('get', ONE, init);
  if (!data) return <UnreadPage title="Network" error={error} again={refetch} />;
  return (
    <Page
      title={data.name}
      crumbs={[
        <Link key="networks" to="/p/$project/r/$region/networks" params={place}>
          Networks
        </Link>,
      ]}
      actions={
        <AsCode
          calls={[
            callOf('get', ONE, init),
            callOf('get', SUBNETS, { params: { path: pathOf(place), query: { network_id: id } } }),
            callOf('get', PORTS, { params: { path: pathOf(place), query: { network_ids: [id] } } }),
          ]}
        />
      }
    >
      <p className="row">
        <span className="muted">{kindOf(data)}</span>
        <Changing task={data.task_id} />
      </p>
      <Tabs tabs={TABS} label="Parts of the network" />
      {tab === 'subnets' && <Subnets id={id} own={data.project_id !== null} />}
      {tab === 'ports' && <Ports id={id} />}
      {tab === 'settings' && <Settings key={data.name} id={id} name={data.name} />}
      {tab === 'json' && <Json of={data} />}
    </Page>
  );
}

function Subnets({ id, own }: { id: string; own: boolean }) {
  const place = usePlace() as Place;
  const read = $api.useQuery('get', SUBNETS, {
    params: {
      path: pathOf(place),
      query: { network_id: id, owned_by: 'any', ...usePaging() },
    },
  });
  return (
    <>
      {own && <NewSubnet id={id} />}
      <Table
        caption="Subnets of the network"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          { name: 'Name', show: ({ name }) => name },
          { name: 'Addresses', show: ({ cidr }) => <span className="mono">{cidr}</span> },
          { name: 'Gateway', show: ({ gateway_ip }) => <span className="mono">{gateway_ip ?? 'none'}</span> },
          {
            name: 'Free',
            number: true,
            show: ({ available_ips, total_ips }) =>
              available_ips === null ? 'not counted' : `${available_ips} of ${total_ips}`,
          },
          { name: 'DHCP', show: ({ enable_dhcp }) => (enable_dhcp ? 'yes' : 'no') },
          {
            name: 'Change',
            show: ({ id, name, project_id }) =>
              project_id !== null && own ? (
                <Review
                  operation="deleteSubnet"
                  label={`Delete ${name}`}
                  title={`Delete subnet ${name}?`}
                  tone="quiet"
                  call={() => callOf('delete', SUBNET, { params: { path: { ...pathOf(place), subnet_id: id } } })}
                />
              ) : null,
          },
        ]}
        empty={<p>This network has no subnet, so nothing gets an address in it.</p>}
      />
      <Pages count={read.data?.count ?? 0} />
    </>
  );
}

function NewSubnet({ id }: { id: string }) {
  const place = usePlace() as Place;
  const { cidr: suggested } = useFilters();
  const { values, field, reset, take } = useForm({
    name: '',
    cidr: suggested ?? '10.0.0.0/24',
    dhcp: true,
    router: true,
  });
  return (
    <details className="card" open={suggested !== undefined}>
      <summary className="inside">New subnet</summary>
      <form className="form inside" onSubmit={(event) => event.preventDefault()}>
        <TextField label="Name" required maxLength={63} {...field('name')} />
        <TextField label="Addresses" required placeholder="10.0.0.0/24" {...field('cidr')} />
        <CheckField label="DHCP" {...field('dhcp')} />
        <CheckField label="Connect it to the router of the network, if there is one" {...field('router')} />
        <div className="row">
          <Review
            operation="createSubnet"
            label="Create"
            title={`Create subnet ${values.name}?`}
            tone="primary"
            disabled={values.name === '' || values.cidr === '' ? 'Give it a name and addresses first' : undefined}
            call={() =>
              callOf('post', SUBNETS, {
                params: { path: pathOf(place) },
                body: {
                  name: values.name,
                  network_id: id,
                  cidr: values.cidr,
                  enable_dhcp: values.dhcp,
                  connect_to_network_router: values.router,
                },
              })
            }
            onRefused={take}
            onApplied={() => reset({ ...values, name: '' })}
          />
        </div>
      </form>
    </details>
  );
}

function Ports({ id }: { id: string }) {
  const place = usePlace() as Place;
  const { nameOf } = useGroups();
  const read = $api.useQuery('get', PORTS, {
    params: {
      path: pathOf(place),
      query: { network_ids: [id], ...usePaging() },
    },
  });
  const owners = $api.useQuery('get', OWNERS, { params: { path: { ...pathOf(place), network_id: id } } });
  const ownerOf = (port: string) => owners.data?.results.find((one) => one.id === port);
  return (
    <>
      <Table
        caption="Ports of the network"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'Addresses',
            show: ({ id, ip_assignments }) => (
              <span className="mono">{ip_assignments.map(({ ip_address }) => ip_address).join(', ') || id}</span>
            ),
          },
          {
            name: 'Of',
            show: ({ id, managed_by }) => {
              const owner = ownerOf(id);
              if (owner) return <InstanceLink id={owner.instance_id} name={owner.instance_name} />;
              return <span className="muted">{managed_by === 'system' ? 'a router' : 'reserved'}</span>;
            },
          },
          {
            name: 'Security groups',
            show: ({ security_group_ids }) => (
              <span className="row tight">
                {security_group_ids.map((group) => (
                  <GroupLink key={group} id={group} name={nameOf(group)} />
                ))}
              </span>
            ),
          },
          {
            name: 'Port security',
            show: ({ port_security_enabled }) =>
              port_security_enabled ? 'on' : <span className="badge warn exposed">off</span>,
          },
          {
            name: 'Reachability',
            show: ({ id, ip_assignments }) => (
              <QuestionLink asked={{ from: INTERNET, to: id }}>
                What reaches it
                <span className="hidden"> ({ip_assignments.map(({ ip_address }) => ip_address).join(', ')})</span>
              </QuestionLink>
            ),
          },
        ]}
        empty={<p>This network has no ports.</p>}
      />
      <Pages count={read.data?.count ?? 0} />
    </>
  );
}

function Settings({ id, name }: { id: string; name: string }) {
  const place = usePlace() as Place;
  const [entered, setEntered] = useState<string>();
  const wanted = entered ?? name;
  const [faults, setFaults] = useState<readonly string[]>();
  const path = { ...pathOf(place), network_id: id };
  return (
    <form className="form" onSubmit={(event) => event.preventDefault()}>
      <TextField label="Name" maxLength={63} value={wanted} onChange={setEntered} faults={faults} />
      <div className="row">
        <Review
          operation="updateNetwork"
          label="Save"
          title={`Rename network ${name}?`}
          tone="primary"
          disabled={wanted === name ? 'Nothing is changed' : undefined}
          call={() =>
            callOf('patch', '/cloud/v2/networks/{project_id}/{region_id}/{network_id}', {
              params: { path },
              body: { name: wanted },
            })
          }
          onRefused={(error) => {
            setFaults(error.fields.name);
            return takes(error, (name) => name === 'name');
          }}
          onApplied={() => setEntered(undefined)}
        />
        <Review
          operation="deleteNetwork"
          label="Delete"
          title={`Delete network ${name}?`}
          tone="danger"
          call={() => callOf('delete', ONE, { params: { path } })}
        />
      </div>
    </form>
  );
}
