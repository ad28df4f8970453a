import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, type ApiError } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { optionsOf } from '../../ui/choice.tsx';
import { CheckField, NumberField, SelectField, TextField, takes } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { Review } from '../../ui/review.tsx';
import { useGroups } from '../network/groups.tsx';
import { InstancePrice, type PriceBody } from './instance-price.tsx';

const CREATE = '/cloud/v2/instances/{project_id}/{region_id}';
const VOLUME_TYPES = ['standard', 'ssd_hiiops', 'ssd_lowlatency', 'cold', 'ultra'] as const;

const EMPTY = {
  name: '',
  flavor: '',
  source: 'image' as 'image' | 'existing-volume',
  image: '',
  size: undefined as number | undefined,
  type: 'standard' as (typeof VOLUME_TYPES)[number],
  volume: '',
  keep: true,
  /** A subnet, or the external network. */
  where: '',
  floating: false,
  groups: [] as readonly string[],
  key: '',
};

type Choices = ReturnType<typeof useChoices>;

/** Everything that can be chosen from. */
function useChoices() {
  const place = usePlace() as Place;
  const path = pathOf(place);
  const all = { params: { path, query: { limit: 1000 } } };
  const flavors = $api.useQuery('get', '/cloud/v1/flavors/{project_id}/{region_id}', {
    params: { path, query: { limit: 1000, include_prices: true } },
  });
  const images = $api.useQuery('get', '/cloud/v1/images/{project_id}/{region_id}', all);
  const volumes = $api.useQuery('get', '/cloud/v1/volumes/{project_id}/{region_id}', {
    params: { path, query: { bootable: true, has_attachments: false, limit: 1000 } },
  });
  const networks = $api.useQuery('get', '/cloud/v1/networks/{project_id}/{region_id}', {
    params: { path, query: { limit: 1000, external: false } },
  });
  const subnets = $api.useQuery('get', '/cloud/v1/subnets/{project_id}/{region_id}', all);
  const keys = $api.useQuery('get', '/cloud/v1/ssh_keys/{project_id}', {
    params: { path: { project_id: place.project }, query: { limit: 1000 } },
  });
  const results = <One,>(read: { data?: { results: One[] } | undefined }): One[] => read.data?.results ?? [];
  return {
    flavors: results(flavors),
    images: results(images).filter(({ is_baremetal }) => !is_baremetal),
    volumes: results(volumes),
    networks: results(networks),
    subnets: results(subnets),
    keys: results(keys),
    groups: useGroups().options,
  };
}

/** What is typed, with what is chosen as long as nobody has chosen. */
function withDefaults(typed: typeof EMPTY, { flavors, images, volumes, subnets }: Choices): typeof EMPTY {
  const image = typed.image || (images[0]?.id ?? '');
  return {
    ...typed,
    flavor: typed.flavor || (flavors[0]?.flavor_id ?? ''),
    image,
    size: typed.size ?? images.find(({ id }) => id === image)?.min_disk,
    volume: typed.volume || (volumes[0]?.id ?? ''),
    where: typed.where || (subnets[0]?.id ?? 'external'),
  };
}

/** The form in the words of the API. */
function bodyOf(form: typeof EMPTY, { subnets }: Choices) {
  const subnet = subnets.find(({ id }) => id === form.where);
  const connection = subnet
    ? {
        type: 'subnet',
        network_id: subnet.network_id,
        subnet_id: subnet.id,
        ...(form.floating && { floating_ip: { source: 'new' } }),
      }
    : { type: 'external' };
  const disk =
    form.source === 'image'
      ? { source: 'image', image_id: form.image, type_name: form.type, ...(form.size && { size: form.size }) }
      : { source: 'existing-volume', volume_id: form.volume };
  const complete = form.flavor !== '' && (form.source === 'image' ? form.image : form.volume) !== '';
  return {
    wanted: {
      name: form.name,
      flavor: form.flavor,
      // An empty list would mean no groups; without one, it gets the default group.
      interfaces: [
        { ...connection, ...(form.groups.length > 0 && { security_groups: form.groups.map((id) => ({ id })) }) },
      ],
      volumes: [{ ...disk, boot_index: 0, delete_on_termination: !form.keep }],
      ...(form.key && { ssh_key_name: form.key }),
    },
    priced: complete ? { flavor: form.flavor, interfaces: [connection], volumes: [disk] } : undefined,
  };
}

/** A form for a new instance, with its price beside it. */
export function NewInstance() {
  const place = usePlace() as Place;
  const navigate = useNavigate();
  const choices = useChoices();
  const [typed, setForm] = useState(EMPTY);
  const [faults, setFaults] = useState<ApiError['fields']>({});
  const form = withDefaults(typed, choices);
  const { wanted, priced } = bodyOf(form, choices);
  const call = callOf('post', CREATE, { params: { path: pathOf(place) }, body: wanted as never });
  const inputs = { form, choices, faults, set: (change: Partial<typeof EMPTY>) => setForm({ ...typed, ...change }) };
  return (
    <Page
      title="New instance"
      crumbs={[
        <Link key="instances" to="/p/$project/r/$region/instances" params={place}>
          Instances
        </Link>,
      ]}
      actions={<AsCode calls={[call]} />}
    >
      <div className="beside">
        <form className="form" onSubmit={(event) => event.preventDefault()}>
          <Machine {...inputs} />
          <Disk {...inputs} />
          <Connection {...inputs} />
          <div className="row">
            <Review
              operation="createInstance"
              label="Create"
              title={`Create instance ${form.name}?`}
              tone="primary"
              disabled={form.name === '' ? 'Give it a name first' : undefined}
              call={() => call}
              onRefused={(error) => {
                setFaults(error.fields);
                // The dialog shows faults that have no field here.
                return takes(error, (name) => SHOWN.test(name));
              }}
              onApplied={() => void navigate({ to: '/p/$project/r/$region/instances', params: place })}
            />
          </div>
        </form>
        <InstancePrice body={priced as PriceBody | undefined} />
      </div>
    </Page>
  );
}

interface Inputs {
  form: typeof EMPTY;
  choices: Choices;
  faults: ApiError['fields'];
  set: (change: Partial<typeof EMPTY>) => void;
}

function Machine({ form, choices, faults, set }: Inputs) {
  return (
    <>
      <TextField
        label="Name"
        required
        maxLength={63}
        value={form.name}
        onChange={(name) => set({ name })}
        faults={faults.name}
      />
      <SelectField
        label="Flavor"
        value={form.flavor}
        options={choices.flavors
          .filter(({ disabled }) => !disabled)
          .map(({ flavor_id, vcpus, ram }) => ({
            value: flavor_id,
            text: `${flavor_id}: ${vcpus} vCPU, ${ram / 1024} GiB`,
          }))}
        onChange={(flavor) => set({ flavor })}
        faults={faults.flavor}
      />
      <SelectField
        label="SSH key"
        value={form.key}
        options={[{ value: '', text: 'none' }, ...choices.keys.map(({ name }) => ({ value: name, text: name }))]}
        onChange={(key) => set({ key })}
        faults={faults.ssh_key_name}
      />
    </>
  );
}

function Disk({ form, choices, faults, set }: Inputs) {
  const image = choices.images.find(({ id }) => id === form.image);
  return (
    <>
      <SelectField
        label="Starts from"
        value={form.source}
        options={[
          { value: 'image', text: 'an image, on a new volume' },
          { value: 'existing-volume', text: 'a volume that exists' },
        ]}
        onChange={(source) => set({ source: source as typeof form.source })}
      />
      {form.source === 'image' ? (
        <>
          <SelectField
            label="Image"
            value={form.image}
            options={choices.images.map(({ id, name }) => ({ value: id, text: name }))}
            onChange={(chosen) => set({ image: chosen })}
            faults={faults['volumes.0.image_id']}
          />
          <NumberField
            label="Size of the volume in GiB"
            help={image && `The image needs ${image.min_disk} GiB.`}
            min={image?.min_disk ?? 1}
            value={form.size}
            onChange={(size) => set({ size })}
            faults={faults['volumes.0.size']}
          />
          <SelectField
            label="Type of the volume"
            value={form.type}
            options={optionsOf(VOLUME_TYPES)}
            onChange={(type) => set({ type: type as typeof form.type })}
            faults={faults['volumes.0.type_name']}
          />
        </>
      ) : (
        <SelectField
          label="Volume"
          help={choices.volumes.length === 0 && 'No volume that boots is free.'}
          value={form.volume}
          options={choices.volumes.map(({ id, name, size }) => ({ value: id, text: `${name} (${size} GiB)` }))}
          onChange={(volume) => set({ volume })}
          faults={faults['volumes.0.volume_id']}
        />
      )}
      <CheckField
        label="Keep the volume when the instance is deleted"
        value={form.keep}
        onChange={(keep) => set({ keep })}
      />
    </>
  );
}

function Connection({ form, choices, faults, set }: Inputs) {
  return (
    <>
      <SelectField
        label="Network"
        value={form.where}
        options={[
          ...choices.subnets.map(({ id, name, cidr, network_id }) => ({
            value: id,
            text: `${choices.networks.find((one) => one.id === network_id)?.name ?? network_id}: ${name} ${cidr}`,
          })),
          { value: 'external', text: 'a public address of its own' },
        ]}
        onChange={(where) => set({ where })}
        faults={faults['interfaces.0.subnet_id'] ?? faults['interfaces.0']}
      />
      {form.where !== 'external' && (
        <CheckField
          label="With a new floating IP"
          help="Its network needs a router that leads to the internet."
          value={form.floating}
          onChange={(floating) => set({ floating })}
        />
      )}
      <fieldset className="field">
        <legend className="label">Security groups</legend>
        <p className="help">Without any, it gets the default group.</p>
        {choices.groups.map(({ value, text }) => (
          <CheckField
            key={value}
            label={text}
            value={form.groups.includes(value)}
            onChange={(chosen) =>
              set({ groups: chosen ? [...form.groups, value] : form.groups.filter((id) => id !== value) })
            }
          />
        ))}
      </fieldset>
    </>
  );
}

const SHOWN =
  /^(name|flavor|ssh_key_name|volumes\.0\.(image_id|size|type_name|volume_id)|interfaces\.0(\.subnet_id)?)$/;
