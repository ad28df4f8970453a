import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { useFilters } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { optionsOf } from '../../ui/choice.tsx';
import { NumberField, SelectField, TextField, useFaults } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { Review } from '../../ui/review.tsx';
import { type PriceQuestion, StoragePrice } from './price.tsx';

type Source = PriceQuestion['source'];
type Type = NonNullable<PriceQuestion['type_name']>;

export const VOLUME_TYPES: readonly Type[] = ['standard', 'ssd_hiiops', 'ssd_lowlatency', 'ssd_local', 'cold', 'ultra'];
const SOURCES = [
  { value: 'new-volume', text: 'nothing: an empty volume' },
  { value: 'image', text: 'an image' },
  { value: 'snapshot', text: 'a snapshot' },
];
/** Enough for a choice by hand. The operation itself takes any ID. */
const CHOICES = 200;

/** Makes a volume, with its price beside what is typed. */
export function NewVolume() {
  const place = usePlace() as Place;
  const navigate = useNavigate();
  const given = useFilters();
  const [name, setName] = useState('');
  const [source, setSource] = useState<Source>(given.snapshot_id ? 'snapshot' : 'new-volume');
  const [size, setSize] = useState<number | undefined>(10);
  const [type, setType] = useState<Type | ''>('');
  const [image, setImage] = useState('');
  const [snapshot, setSnapshot] = useState(given.snapshot_id ?? '');
  const [instance, setInstance] = useState('');
  const { faults, clear, take } = useFaults(['name', 'size', 'type_name', 'image_id', 'snapshot_id', 'source']);
  const images = useImages(place, source === 'image');
  const snapshots = useSnapshots(place, source === 'snapshot');
  const instances = useInstances(place);

  const chosenType = type === '' ? {} : { type_name: type };
  const question: PriceQuestion | undefined =
    source === 'snapshot'
      ? snapshot === ''
        ? undefined
        : { source, snapshot_id: snapshot, ...chosenType }
      : size === undefined
        ? undefined
        : { source, size, ...chosenType };
  const body = {
    source,
    name,
    ...(source === 'image' && { image_id: image }),
    ...(source === 'snapshot' ? { snapshot_id: snapshot } : { size }),
    ...chosenType,
    ...(instance !== '' && { instance_id_to_attach_to: instance }),
  };
  const call = () =>
    callOf('post', '/cloud/v1/volumes/{project_id}/{region_id}', {
      params: { path: pathOf(place) },
      body: body as never,
    });
  return (
    <Page
      title="Create a volume"
      crumbs={[
        <Link key="volumes" to="/p/$project/r/$region/volumes" params={place}>
          Volumes
        </Link>,
        'New',
      ]}
      actions={<AsCode calls={[call()]} />}
    >
      <div className="beside">
        <form className="form" onSubmit={(event) => event.preventDefault()}>
          <TextField label="Name" value={name} onChange={setName} required faults={faults.name} />
          <SelectField
            label="Made from"
            value={source}
            options={SOURCES}
            onChange={(value) => setSource(value as Source)}
            faults={faults.source}
          />
          {source === 'image' && (
            <SelectField
              label="Image"
              value={image}
              options={[{ value: '', text: 'Choose one' }, ...images]}
              onChange={setImage}
              required
              faults={faults.image_id}
            />
          )}
          {source === 'snapshot' ? (
            <SelectField
              label="Snapshot"
              help="The volume gets its size."
              value={snapshot}
              options={[{ value: '', text: 'Choose one' }, ...snapshots]}
              onChange={setSnapshot}
              required
              faults={faults.snapshot_id}
            />
          ) : (
            <NumberField
              label="Size in GiB"
              value={size}
              onChange={setSize}
              min={1}
              max={102_400}
              required
              faults={faults.size}
            />
          )}
          <SelectField
            label="Type"
            value={type}
            options={[
              { value: '', text: source === 'snapshot' ? 'that of the snapshot’s volume' : 'the usual one: standard' },
              ...optionsOf(VOLUME_TYPES),
            ]}
            onChange={(value) => setType(value as Type | '')}
            faults={faults.type_name}
          />
          <SelectField
            label="Attach it to"
            value={instance}
            options={[{ value: '', text: 'no instance yet' }, ...instances]}
            onChange={setInstance}
            faults={faults.instance_id_to_attach_to}
          />
          <div className="row">
            <Review
              operation="createVolume"
              label="Create"
              title="Create this volume?"
              tone="primary"
              call={() => {
                clear();
                return call();
              }}
              onRefused={take}
              onApplied={() => void navigate({ to: '/p/$project/r/$region/volumes', params: place })}
            />
          </div>
        </form>
        <StoragePrice place={place} kind="volumes" of={question} />
      </div>
    </Page>
  );
}

function useImages(place: Place, enabled: boolean) {
  const { data } = $api.useQuery(
    'get',
    '/cloud/v1/images/{project_id}/{region_id}',
    { params: { path: pathOf(place), query: { limit: CHOICES } } },
    { enabled },
  );
  return (data?.results ?? []).map(({ id, name, min_disk }) => ({
    value: id,
    text: `${name} (at least ${min_disk} GiB)`,
  }));
}

function useSnapshots(place: Place, enabled: boolean) {
  const { data } = $api.useQuery(
    'get',
    '/cloud/v1/snapshots/{project_id}/{region_id}',
    { params: { path: pathOf(place), query: { limit: CHOICES } } },
    { enabled },
  );
  return (data?.results ?? []).map(({ id, name, size }) => ({ value: id, text: `${name} (${size} GiB)` }));
}

export function useInstances(place: Place) {
  const { data } = $api.useQuery('get', '/cloud/v1/instances/{project_id}/{region_id}', {
    params: { path: pathOf(place), query: { limit: CHOICES } },
  });
  return (data?.results ?? []).map(({ id, name }) => ({ value: id, text: name }));
}
