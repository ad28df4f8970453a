import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { optionsOf } from '../../ui/choice.tsx';
import { NumberField, SelectField, TextField, useFaults } from '../../ui/field.tsx';
import { Json } from '../../ui/json.tsx';
import { Page, Section, UnreadPage } from '../../ui/page.tsx';
import { Review } from '../../ui/review.tsx';
import { State } from '../../ui/state.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { useInstances } from './new-volume.tsx';
import { PricePerMonth, StoragePrice } from './price.tsx';
import { SnapshotList } from './snapshots.tsx';
import { Tags } from './tags.tsx';
import { AttachedTo, type Volume } from './volumes.tsx';

const TABS = { overview: 'Overview', change: 'Change', snapshots: 'Snapshots', tags: 'Tags', json: 'JSON' } as const;
const ONE = '/cloud/v1/volumes/{project_id}/{region_id}/{volume_id}';

export function VolumePage() {
  const { volume: id } = useParams({ from: '/p/$project/r/$region/volumes/$volume' });
  const place = usePlace() as Place;
  const navigate = useNavigate();
  const tab = useTab(TABS);
  const params = { path: { ...pathOf(place), volume_id: id } };
  const { data: volume, error, refetch } = $api.useQuery('get', ONE, { params });
  if (!volume) return <UnreadPage title="Volume" error={error} again={refetch} />;
  return (
    <Page
      title={volume.name || id}
      crumbs={[
        <Link key="volumes" to="/p/$project/r/$region/volumes" params={place}>
          Volumes
        </Link>,
        <code key="id">{id}</code>,
      ]}
      actions={
        <>
          <Link className="button" to="." search={{ tab: 'change' } as never}>
            {volume.attachments.length === 0 ? 'Attach …' : 'Detach …'}
          </Link>
          <Link className="button" to="." search={{ tab: 'snapshots' } as never}>
            Take a snapshot …
          </Link>
          <AsCode calls={[callOf('get', ONE, { params })]} />
          <Review
            operation="deleteVolume"
            label="Delete"
            title={`Delete volume ${volume.name}?`}
            tone="danger"
            call={() =>
              callOf('delete', ONE, {
                params: {
                  ...params,
                  ...(volume.snapshot_ids.length > 0 && { query: { snapshots: volume.snapshot_ids.join(',') } }),
                },
              })
            }
            onApplied={() => void navigate({ to: '/p/$project/r/$region/volumes', params: place })}
          >
            {volume.snapshot_ids.length > 0 && (
              <p className="note warn">Its {volume.snapshot_ids.length} snapshots are deleted with it.</p>
            )}
          </Review>
        </>
      }
    >
      <Tabs tabs={TABS} label="Parts of the volume" />
      {tab === 'overview' && <Facts of={volume} place={place} />}
      {tab === 'change' && <Changes of={volume} place={place} />}
      {tab === 'snapshots' && <Snapshots of={volume} place={place} />}
      {tab === 'tags' && (
        <Tags
          tags={volume.tags}
          operation="updateVolume"
          change={(tags) => callOf('patch', ONE, { params, body: { tags } })}
        />
      )}
      {tab === 'json' && <Json of={volume} />}
    </Page>
  );
}

function Facts({ of: volume, place }: { of: Volume; place: Place }) {
  const { limiter_stats: limits, task_id } = volume;
  return (
    <div className="card">
      <dl className="facts inside">
        <dt>Status</dt>
        <dd>
          <State of={volume.status} />
        </dd>
        {task_id && (
          <>
            <dt>Held by</dt>
            <dd>
              <Link to="/p/$project/r/$region/tasks/$task" params={{ ...place, task: task_id }}>
                a task in progress
              </Link>
            </dd>
          </>
        )}
        <dt>Size</dt>
        <dd>{volume.size} GiB</dd>
        <dt>Type</dt>
        <dd>{volume.volume_type}</dd>
        <dt>Bootable</dt>
        <dd>{volume.is_root_volume ? 'yes: an instance boots from it' : volume.bootable ? 'yes' : 'no'}</dd>
        <dt>Attached to</dt>
        <dd>{volume.attachments.length === 0 ? 'nothing' : <AttachedTo of={volume.attachments} />}</dd>
        <dt>Price</dt>
        <dd>
          <PricePerMonth
            place={place}
            of={{ source: 'new-volume', size: volume.size, type_name: volume.volume_type }}
          />
        </dd>
        {limits && (
          <>
            <dt>Speed</dt>
            <dd>
              {limits.iops_base_limit} IOPS, for a while {limits.iops_burst_limit}; {limits.MBps_base_limit} MB/s, for a
              while {limits.MBps_burst_limit}
            </dd>
          </>
        )}
        {volume.creator_task_id && (
          <>
            <dt>Made by</dt>
            <dd>
              <Link to="/p/$project/r/$region/tasks/$task" params={{ ...place, task: volume.creator_task_id }}>
                a task
              </Link>
            </dd>
          </>
        )}
        <dt>Created</dt>
        <dd>
          <Time at={volume.created_at} />
        </dd>
        <dt>Changed</dt>
        <dd>
          <Time at={volume.updated_at} />
        </dd>
      </dl>
    </div>
  );
}

function Card({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Section title={title}>
      <form className="inside form" onSubmit={(event) => event.preventDefault()}>
        {children}
      </form>
    </Section>
  );
}

interface Changed {
  of: Volume;
  place: Place;
}

function Changes(changed: Changed) {
  return (
    <div className="columns">
      <Attachment {...changed} />
      <Extend {...changed} />
      <Rename {...changed} />
      <Retype {...changed} />
      <Revert {...changed} />
    </div>
  );
}

const paramsOf = ({ of: { id }, place }: Changed) => ({ path: { ...pathOf(place), volume_id: id } });

function Attachment(changed: Changed) {
  const { attachments, is_root_volume } = changed.of;
  const [instance, setInstance] = useState('');
  const instances = useInstances(changed.place);
  const params = paramsOf(changed);
  if (attachments.length === 0)
    return (
      <Card title="Attach">
        <SelectField
          label="Instance"
          value={instance}
          options={[{ value: '', text: 'Choose one' }, ...instances]}
          onChange={setInstance}
        />
        <div className="row">
          <Review
            operation="attachVolume"
            label="Attach"
            title={`Attach volume ${changed.of.name}?`}
            disabled={instance === '' ? 'Choose an instance first' : undefined}
            call={() =>
              callOf('post', '/cloud/v2/volumes/{project_id}/{region_id}/{volume_id}/attach', {
                params,
                body: { instance_id: instance },
              })
            }
          />
        </div>
      </Card>
    );
  return (
    <Card title="Detach">
      {attachments.map(({ attachment_id, server_id, instance_name, device }) => (
        <div key={attachment_id} className="row">
          <span>
            {instance_name} <code>{device}</code>
          </span>
          <Review
            operation="detachVolume"
            label="Detach"
            title={`Detach volume ${changed.of.name} from ${instance_name}?`}
            tone="danger"
            disabled={is_root_volume ? 'An instance boots from it' : undefined}
            call={() =>
              callOf('post', '/cloud/v2/volumes/{project_id}/{region_id}/{volume_id}/detach', {
                params,
                body: { instance_id: server_id ?? '' },
              })
            }
          />
        </div>
      ))}
    </Card>
  );
}

function Extend(changed: Changed) {
  const { size: before, volume_type } = changed.of;
  const [size, setSize] = useState<number | undefined>(before);
  const { faults, clear, take } = useFaults(['size']);
  return (
    <Card title="Extend">
      <NumberField
        label="New size in GiB"
        help="A volume can only become larger."
        value={size}
        onChange={setSize}
        min={before}
        max={102_400}
        faults={faults.size}
      />
      <StoragePrice
        kind="volumes"
        place={changed.place}
        of={size === undefined ? undefined : { source: 'new-volume', size, type_name: volume_type }}
      />
      <div className="row">
        <Review
          operation="extendVolume"
          label="Extend"
          title={`Extend volume ${changed.of.name} to ${size} GiB?`}
          disabled={size === undefined || size === before ? 'Enter another size first' : undefined}
          call={() => {
            clear();
            return callOf('post', '/cloud/v1/volumes/{project_id}/{region_id}/{volume_id}/extend', {
              params: paramsOf(changed),
              body: { size: size ?? before },
            });
          }}
          onRefused={take}
        />
      </div>
    </Card>
  );
}

function Rename(changed: Changed) {
  const [entered, setEntered] = useState<string>();
  const name = entered ?? changed.of.name;
  const { faults, clear, take } = useFaults(['name']);
  return (
    <Card title="Rename">
      <TextField label="Name" value={name} onChange={setEntered} faults={faults.name} />
      <div className="row">
        <Review
          operation="updateVolume"
          label="Rename"
          title={`Rename volume ${changed.of.name}?`}
          disabled={name === changed.of.name ? 'Nothing is changed' : undefined}
          call={() => {
            clear();
            return callOf('patch', ONE, { params: paramsOf(changed), body: { name } });
          }}
          onRefused={take}
          onApplied={() => setEntered(undefined)}
        />
      </div>
    </Card>
  );
}

/** The API moves volumes between these only. */
const RETYPES = ['standard', 'ssd_hiiops'] as const;

function Retype(changed: Changed) {
  const { volume_type, snapshot_ids } = changed.of;
  const others = RETYPES.filter((one) => one !== volume_type);
  const [type, setType] = useState<(typeof RETYPES)[number]>(others[0] ?? 'standard');
  return (
    <Card title="Change the type">
      <SelectField
        label="New type"
        value={type}
        options={optionsOf(others)}
        onChange={(value) => setType(value as typeof type)}
      />
      <div className="row">
        <Review
          operation="retypeVolume"
          label="Change the type"
          title={`Change the type of volume ${changed.of.name} to ${type}?`}
          disabled={snapshot_ids.length > 0 ? 'It has snapshots' : undefined}
          call={() =>
            callOf('post', '/cloud/v1/volumes/{project_id}/{region_id}/{volume_id}/retype', {
              params: paramsOf(changed),
              body: { volume_type: type },
            })
          }
        />
      </div>
    </Card>
  );
}

function Revert(changed: Changed) {
  const { name, snapshot_ids } = changed.of;
  return (
    <Card title="Revert">
      <p>What was written since the last snapshot is lost.</p>
      <div className="row">
        <Review
          operation="revertVolume"
          label="Revert to the last snapshot"
          title={`Revert volume ${name}?`}
          tone="danger"
          disabled={snapshot_ids.length === 0 ? 'It has no snapshot' : undefined}
          call={() =>
            callOf('post', '/cloud/v1/volumes/{project_id}/{region_id}/{volume_id}/revert', {
              params: paramsOf(changed),
            })
          }
        />
      </div>
    </Card>
  );
}

function Snapshots(changed: Changed) {
  const { id, name: volume } = changed.of;
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const { faults, clear, take } = useFaults(['name', 'description']);
  return (
    <>
      <SnapshotList filters={{ volume_id: id }} empty={<p>There is no snapshot of this volume yet.</p>} />
      <Card title="Take a snapshot">
        <TextField label="Name" value={name} onChange={setName} required faults={faults.name} />
        <TextField label="Description" value={description} onChange={setDescription} faults={faults.description} />
        <div className="row">
          <Review
            operation="createSnapshot"
            label="Take it"
            title={`Take a snapshot of volume ${volume}?`}
            tone="primary"
            call={() => {
              clear();
              return callOf('post', '/cloud/v1/snapshots/{project_id}/{region_id}', {
                params: { path: pathOf(changed.place) },
                body: { volume_id: id, name, ...(description !== '' && { description }) },
              });
            }}
            onRefused={take}
            onApplied={() => setName('')}
          />
        </div>
      </Card>
    </>
  );
}
