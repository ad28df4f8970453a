import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { CheckField, TextField, takes } from '../../ui/field.tsx';
import { Json } from '../../ui/json.tsx';
import { Money } from '../../ui/money.tsx';
import { Page, Section, UnreadPage } from '../../ui/page.tsx';
import { PAGE_SIZE, Pages, usePaging } from '../../ui/pages.tsx';
import { Review } from '../../ui/review.tsx';
import { State } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { Changing, GroupLink, ImageById, Listed, NetworkLink, VolumeLink } from '../network/links.tsx';
import { ACTIONS, Addresses, actionOn, type InstanceAction } from './instances.tsx';
import { MachineConsole } from './machine-console.tsx';
import { Ports, usePorts } from './ports.tsx';

const ONE = '/cloud/v1/instances/{project_id}/{region_id}/{instance_id}';
const VOLUMES = '/cloud/v1/volumes/{project_id}/{region_id}';
const TABS = {
  overview: 'Overview',
  console: 'Console',
  ports: 'Ports',
  volumes: 'Volumes',
  metadata: 'Metadata',
  tasks: 'Tasks',
  json: 'JSON',
};
const MORE: Record<InstanceAction, string> = {
  ...ACTIONS,
  reboot_hard: 'Hard reboot',
  suspend: 'Suspend',
  resume: 'Resume',
};

/** One instance. */
export function InstancePage() {
  const { instance: id } = useParams({ from: '/p/$project/r/$region/instances/$instance' });
  const place = usePlace() as Place;
  const path = { ...pathOf(place), instance_id: id };
  const tab = useTab(TABS);
  const { data, error, refetch } = $api.useQuery('get', ONE, { params: { path } });
  if (!data) return <UnreadPage title="Instance" error={error} again={refetch} />;
  return (
    <Page
      title={data.name}
      crumbs={[
        <Link key="instances" to="/p/$project/r/$region/instances" params={place}>
          Instances
        </Link>,
      ]}
      actions={
        <>
          {(Object.keys(MORE) as InstanceAction[])
            .filter((action) => fits(action, data.vm_state))
            .map((action) => (
              <Review
                key={action}
                operation="actOnInstance"
                label={MORE[action]}
                title={`${MORE[action]}: ${data.name}?`}
                call={() => actionOn(place, id, action)}
              />
            ))}
          <AsCode
            calls={[
              callOf('get', ONE, { params: { path } }),
              callOf('get', '/cloud/v1/instances/{project_id}/{region_id}/{instance_id}/ports', { params: { path } }),
              callOf('get', VOLUMES, { params: { path: pathOf(place), query: { instance_id: id } } }),
            ]}
          />
        </>
      }
    >
      <p className="row">
        <State of={data.status} />
        <Changing task={data.task_id} />
      </p>
      <Tabs tabs={TABS} label="Parts of the instance" />
      {tab === 'overview' && <Overview instance={data} />}
      {tab === 'console' && <MachineConsole id={id} state={data.vm_state} />}
      {tab === 'ports' && <Ports instance={data} />}
      {tab === 'volumes' && <Volumes id={id} />}
      {tab === 'metadata' && <Metadata instance={data} />}
      {tab === 'tasks' && <Work id={id} />}
      {tab === 'json' && <Json of={data} />}
    </Page>
  );
}

/** Offers what the state may allow; the server decides. */
function fits(action: InstanceAction, state: string): boolean {
  if (action === 'start') return state === 'stopped';
  if (action === 'resume') return state === 'suspended' || state === 'paused';
  return state === 'active';
}

interface Instance {
  id: string;
  name: string;
  vm_state: string;
  created_at: string;
  addresses: unknown;
  flavor: { flavor_name: string; vcpus: number; ram: number; os_type: string };
  ssh_key_name: string | null;
  volumes: readonly { id: string; delete_on_termination: boolean }[];
  tags: readonly { key: string; value: string; read_only: boolean }[];
}

function Overview({ instance }: { instance: Instance }) {
  const { id, created_at, addresses, flavor, ssh_key_name: key, vm_state } = instance;
  const place = usePlace() as Place;
  const price = $api.useQuery('get', '/cloud/v1/pricing/{project_id}/{region_id}/instances/{instance_id}', {
    params: { path: { ...pathOf(place), instance_id: id } },
  });
  const { ports, interfaces } = usePorts(id);
  const volumes = useVolumes(id).data?.results;
  const images = volumes?.flatMap(({ volume_image_metadata: image }) =>
    image?.image_id ? [{ id: image.image_id }] : [],
  );
  return (
    <>
      <div className="card">
        <dl className="facts inside">
          <dt>State</dt>
          <dd>{vm_state}</dd>
          <dt>Flavor</dt>
          <dd>
            {flavor.flavor_name}: {flavor.vcpus} vCPU, {flavor.ram / 1024} GiB, {flavor.os_type}
          </dd>
          <dt>Addresses</dt>
          <dd>
            <Addresses of={addresses} />
          </dd>
          <dt>Networks</dt>
          <dd>
            <Listed
              of={distinct(interfaces.data?.results.map(({ network_details }) => network_details))}
              show={({ id, name }) => <NetworkLink id={id} name={name} />}
            />
          </dd>
          <dt>Security groups</dt>
          <dd>
            <Listed
              of={distinct(ports.data?.results.flatMap(({ security_groups }) => security_groups))}
              show={({ id, name }) => <GroupLink id={id} name={name} />}
            />
          </dd>
          <dt>Image</dt>
          <dd>
            <Listed of={distinct(images)} show={({ id }) => <ImageById id={id} />} />
          </dd>
          <dt>Volumes</dt>
          <dd>
            <Listed of={volumes} show={({ id, name }) => <VolumeLink id={id} name={name} />} />
          </dd>
          <dt>SSH key</dt>
          <dd>{key ?? 'none'}</dd>
          <dt>Created</dt>
          <dd>
            <Time at={created_at} />
          </dd>
          <dt>Price</dt>
          <dd>
            {price.data?.price_status === 'show' ? (
              <>
                <Money amount={price.data.price_per_month} currency={price.data.currency_code} /> a month, with volumes
                and addresses
              </>
            ) : (
              <span className="muted">{price.isPending ? 'Reading …' : 'not known'}</span>
            )}
          </dd>
          <dt>ID</dt>
          <dd className="mono">{id}</dd>
        </dl>
      </div>
      <Rename instance={instance} />
      <Deletion instance={instance} />
    </>
  );
}

/** Each thing once. */
const distinct = <One extends { id: string }>(all: readonly One[] | undefined): One[] | undefined =>
  all && [...new Map(all.map((one) => [one.id, one])).values()];

function Rename({ instance: { id, name } }: { instance: Instance }) {
  const place = usePlace() as Place;
  const [entered, setEntered] = useState<string>();
  const wanted = entered ?? name;
  const [faults, setFaults] = useState<readonly string[]>();
  return (
    <Section title="Rename">
      <form className="form inside" onSubmit={(event) => event.preventDefault()}>
        <TextField label="Name" value={wanted} onChange={setEntered} faults={faults} />
        <div className="row">
          <Review
            operation="updateInstance"
            label="Rename"
            title={`Rename ${name}?`}
            disabled={wanted === name ? 'Nothing is changed' : undefined}
            call={() =>
              callOf('patch', ONE, {
                params: { path: { ...pathOf(place), instance_id: id } },
                body: { name: wanted },
              })
            }
            onRefused={(error) => {
              setFaults(error.fields.name);
              return takes(error, (name) => name === 'name');
            }}
            onApplied={() => {
              setFaults(undefined);
              setEntered(undefined);
            }}
          />
        </div>
      </form>
    </Section>
  );
}

function Deletion({ instance: { id, name, volumes } }: { instance: Instance }) {
  const place = usePlace() as Place;
  const [floating, setFloating] = useState(false);
  const [gone, setGone] = useState<readonly string[]>([]);
  const { data } = useVolumes(id);
  return (
    <Section title="Delete">
      <div className="form inside">
        <p className="muted">
          Volumes that aren’t chosen are kept, but for those that are set to go with the instance.
        </p>
        {volumes.map((volume) => (
          <CheckField
            key={volume.id}
            label={`Delete volume ${data?.results.find((one) => one.id === volume.id)?.name ?? volume.id}`}
            help={volume.delete_on_termination ? 'It goes with the instance unless it has snapshots.' : undefined}
            value={gone.includes(volume.id)}
            onChange={(chosen) => setGone(chosen ? [...gone, volume.id] : gone.filter((one) => one !== volume.id))}
          />
        ))}
        <CheckField label="Delete its floating IPs" value={floating} onChange={setFloating} />
        <div className="row">
          <Review
            operation="deleteInstance"
            label="Delete"
            title={`Delete instance ${name}?`}
            tone="danger"
            call={() =>
              callOf('delete', ONE, {
                params: {
                  path: { ...pathOf(place), instance_id: id },
                  query: {
                    ...(gone.length > 0 && { volumes: gone.join(',') }),
                    ...(floating && { delete_floatings: true }),
                  },
                },
              })
            }
          />
        </div>
      </div>
    </Section>
  );
}

const useVolumes = (instance: string) =>
  $api.useQuery('get', VOLUMES, {
    params: { path: pathOf(usePlace() as Place), query: { instance_id: instance, limit: PAGE_SIZE } },
  });

function Volumes({ id }: { id: string }) {
  return (
    <Table
      caption="Volumes of the instance"
      read={useVolumes(id)}
      keyOf={({ id }) => id}
      columns={[
        {
          name: 'Name',
          show: ({ id, name }) => <VolumeLink id={id} name={name} />,
        },
        { name: 'Status', show: ({ status }) => <State of={status} /> },
        { name: 'Size', number: true, show: ({ size }) => `${size} GiB` },
        { name: 'Type', show: ({ volume_type }) => volume_type },
        { name: 'Device', show: ({ attachments }) => attachments.map(({ device }) => device).join(', ') },
        { name: 'Boots', show: ({ bootable }) => (bootable ? 'yes' : 'no') },
        { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
      ]}
      empty={<p>No volume is attached to this instance.</p>}
    />
  );
}

function Metadata({ instance: { id, name, tags } }: { instance: Instance }) {
  const place = usePlace() as Place;
  const [form, setForm] = useState({ key: '', value: '' });
  const call = (changed: Record<string, string | null>) =>
    callOf('patch', ONE, {
      params: { path: { ...pathOf(place), instance_id: id } },
      body: { tags: changed },
    });
  return (
    <>
      <Table
        caption="Tags of the instance"
        read={{ data: tags }}
        keyOf={({ key }) => key}
        columns={[
          { name: 'Key', show: ({ key }) => <code>{key}</code> },
          { name: 'Value', show: ({ value }) => value },
          {
            name: 'Change',
            show: ({ key, read_only }) =>
              read_only ? (
                <span className="muted">of the platform</span>
              ) : (
                <Review
                  operation="updateInstance"
                  label={`Remove ${key}`}
                  title={`Remove tag ${key} of ${name}?`}
                  tone="quiet"
                  call={() => call({ [key]: null })}
                />
              ),
          },
        ]}
        empty={<p>This instance has no tags.</p>}
      />
      <form className="form" onSubmit={(event) => event.preventDefault()}>
        <TextField label="Key" value={form.key} onChange={(key) => setForm({ ...form, key })} />
        <TextField label="Value" value={form.value} onChange={(value) => setForm({ ...form, value })} />
        <div className="row">
          <Review
            operation="updateInstance"
            label="Set tag"
            title={`Set tag ${form.key} of ${name}?`}
            tone="primary"
            disabled={form.key === '' ? 'Give it a key first' : undefined}
            call={() => call({ [form.key]: form.value })}
            onApplied={() => setForm({ key: '', value: '' })}
          />
        </div>
      </form>
    </>
  );
}

/** What was done to the instance, from the journal of changes: tasks themselves can't be asked for by what they are about. */
function Work({ id }: { id: string }) {
  const place = usePlace() as Place;
  const read = $api.useQuery('get', '/cloud/v1/user_actions', {
    params: { query: { resource_id: [id], ...usePaging() } },
  });
  return (
    <>
      <Table
        caption="What was done to the instance, the newest first"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'What',
            show: ({ api_group, action_type }) =>
              `${action_type.replaceAll('_', ' ')} ${api_group.replaceAll('_', ' ')}`,
          },
          {
            name: 'Task',
            show: ({ task_id }) =>
              task_id ? (
                <Link to="/p/$project/r/$region/tasks/$task" params={{ ...place, task: task_id }}>
                  See the task
                </Link>
              ) : (
                <span className="muted">done at once</span>
              ),
          },
          { name: 'Who', show: ({ email }) => email ?? '' },
          { name: 'From', show: ({ source_user_ip }) => <span className="mono">{source_user_ip}</span> },
          { name: 'When', show: ({ timestamp }) => <Time at={timestamp} /> },
        ]}
        empty={<p>Nothing was done to this instance.</p>}
      />
      <Pages count={read.data?.count ?? 0} />
    </>
  );
}
