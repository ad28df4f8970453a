import { $api } from '../../lib/api.ts';
import { type Place, pathOf } from '../../lib/place.ts';
import { CheckField, NumberField, SelectField, TextField } from '../../ui/field.tsx';
import type { CreatePool } from './data.ts';
import type { Faults } from './settings.tsx';
import { TextsField } from './texts-field.tsx';

/** What a form knows of a pool; a number is undefined while its field is empty. */
export interface PoolDraft {
  name: string;
  flavor_id: string;
  min_node_count: number | undefined;
  max_node_count: number | undefined;
  boot_volume_size: number | undefined;
  boot_volume_type: string;
  servergroup_policy: string;
  auto_healing_enabled: boolean;
  is_public_ipv4: boolean;
  labels: Record<string, string>;
  taints: Record<string, string>;
  crio_config: Record<string, string>;
  kubelet_config: Record<string, string>;
  security_group_ids: readonly string[];
}

export const newPool = (name: string): PoolDraft => ({
  name,
  flavor_id: '',
  min_node_count: 1,
  max_node_count: 3,
  boot_volume_size: 50,
  boot_volume_type: '',
  servergroup_policy: 'anti-affinity',
  auto_healing_enabled: false,
  is_public_ipv4: false,
  labels: {},
  taints: {},
  crio_config: {},
  kubelet_config: {},
  security_group_ids: [],
});

/** Bare metal has no boot volume and no placement group, as its flavors' names say. */
export const isBareMetal = (flavor: string): boolean => flavor.startsWith('bm');

const filled = (map: Record<string, string>) => Object.keys(map).length > 0;

/** The pool as the API takes it. What is empty is left out. */
export function poolBody(pool: PoolDraft): CreatePool {
  const bare = isBareMetal(pool.flavor_id);
  return {
    name: pool.name,
    flavor_id: pool.flavor_id,
    min_node_count: pool.min_node_count as number,
    ...(pool.max_node_count !== undefined && { max_node_count: pool.max_node_count }),
    ...(!bare && {
      ...(pool.boot_volume_size !== undefined && { boot_volume_size: pool.boot_volume_size }),
      ...(pool.boot_volume_type !== '' && { boot_volume_type: pool.boot_volume_type }),
      servergroup_policy: pool.servergroup_policy as 'affinity',
    }),
    ...(pool.auto_healing_enabled && { auto_healing_enabled: true }),
    ...(pool.is_public_ipv4 && { is_public_ipv4: true }),
    ...(filled(pool.labels) && { labels: pool.labels }),
    ...(filled(pool.taints) && { taints: pool.taints }),
    ...(filled(pool.crio_config) && { crio_config: pool.crio_config }),
    ...(filled(pool.kubelet_config) && { kubelet_config: pool.kubelet_config }),
    ...(pool.security_group_ids.length > 0 && { security_group_ids: [...pool.security_group_ids] }),
  };
}

/** What can be chosen for pools in a region. */
export function usePoolOffer(place: Place) {
  const flavors = $api.useQuery('get', '/cloud/v1/k8s/{project_id}/{region_id}/flavors', {
    params: { path: pathOf(place), query: { limit: 1000, include_prices: true } },
  });
  const region = $api.useQuery('get', '/cloud/v1/regions/{region_id}', {
    params: { path: { region_id: place.region }, query: { show_volume_types: true } },
  });
  return {
    flavors: (flavors.data?.results ?? []).filter(({ disabled }) => !disabled),
    volumeTypes: (region.data?.available_volume_types ?? []) as readonly string[],
    loaded: flavors.data !== undefined && region.data !== undefined,
    error: flavors.error ?? region.error,
  };
}

const FOLDED = /^(labels|taints|crio_config|kubelet_config|security_group_ids)\b/;

/** The fields of a new pool. */
export function PoolFields({
  place,
  value,
  onChange,
  faults,
}: {
  place: Place;
  value: PoolDraft;
  onChange: (value: PoolDraft) => void;
  faults: Faults;
}) {
  const { flavors, volumeTypes } = usePoolOffer(place);
  const set = (change: Partial<PoolDraft>) => onChange({ ...value, ...change });
  const bare = isBareMetal(value.flavor_id);
  return (
    <>
      <TextField
        label="Pool name"
        value={value.name}
        onChange={(name) => set({ name })}
        faults={faults.name}
        required
      />
      <SelectField
        label="Flavor"
        value={value.flavor_id}
        onChange={(flavor_id) => set({ flavor_id })}
        options={[
          { value: '', text: 'Choose one' },
          ...flavors.map(({ flavor_id, vcpus, ram }) => ({
            value: flavor_id,
            text: `${flavor_id}: ${vcpus} vCPU, ${ram / 1024} GiB`,
          })),
        ]}
        faults={faults.flavor_id}
        required
      />
      <div className="field-pair">
        <NumberField
          label="Minimum nodes"
          value={value.min_node_count}
          onChange={(min_node_count) => set({ min_node_count })}
          min={1}
          max={200}
          help="The pool starts with this many."
          faults={faults.min_node_count}
          required
        />
        <NumberField
          label="Maximum nodes"
          value={value.max_node_count}
          onChange={(max_node_count) => set({ max_node_count })}
          min={1}
          max={200}
          help="Same as the minimum if empty."
          faults={faults.max_node_count}
        />
      </div>
      {bare ? (
        <p className="muted">This flavor is bare metal: it has disks of its own and no placement group.</p>
      ) : (
        <>
          <div className="field-pair">
            <NumberField
              label="Boot volume in GiB"
              value={value.boot_volume_size}
              onChange={(boot_volume_size) => set({ boot_volume_size })}
              min={10}
              max={2000}
              faults={faults.boot_volume_size}
              required
            />
            <SelectField
              label="Boot volume type"
              value={value.boot_volume_type}
              onChange={(boot_volume_type) => set({ boot_volume_type })}
              options={[{ value: '', text: 'Choose one' }, ...volumeTypes.map((type) => ({ value: type, text: type }))]}
              faults={faults.boot_volume_type}
              required
            />
          </div>
          <SelectField
            label="Placement"
            value={value.servergroup_policy}
            onChange={(servergroup_policy) => set({ servergroup_policy })}
            options={[
              { value: 'anti-affinity', text: 'each node on a different host' },
              { value: 'soft-anti-affinity', text: 'on different hosts if possible' },
              { value: 'affinity', text: 'all on one host' },
            ]}
            faults={faults.servergroup_policy}
          />
        </>
      )}
      <CheckField
        label="Public IPv4 address for each node"
        value={value.is_public_ipv4}
        onChange={(is_public_ipv4) => set({ is_public_ipv4 })}
        faults={faults.is_public_ipv4}
      />
      <CheckField
        label="Replace broken nodes"
        value={value.auto_healing_enabled}
        onChange={(auto_healing_enabled) => set({ auto_healing_enabled })}
        faults={faults.auto_healing_enabled}
      />
      <details open={Object.keys(faults).some((name) => FOLDED.test(name)) || undefined}>
        <summary>Labels, taints, security groups and node settings</summary>
        <PoolTexts place={place} value={value} onChange={set} faults={faults} />
      </details>
    </>
  );
}

type Texts = Pick<PoolDraft, 'labels' | 'taints' | 'crio_config' | 'kubelet_config' | 'security_group_ids'>;

/** What nodes are told, and the security groups that they are in. */
export function PoolTexts({
  place,
  value,
  onChange,
  faults,
}: {
  place: Place;
  value: Texts;
  onChange: (change: Partial<Texts>) => void;
  faults: Faults;
}) {
  const groups = $api.useQuery('get', '/cloud/v1/securitygroups/{project_id}/{region_id}', {
    params: { path: pathOf(place), query: { limit: 1000 } },
  });
  const texts = (name: 'labels' | 'taints' | 'crio_config' | 'kubelet_config', label: string, help: string) => (
    <TextsField
      label={label}
      value={value[name]}
      onChange={(next) => onChange({ [name]: next })}
      help={help}
      faults={faults}
      path={name}
    />
  );
  return (
    <div className="part">
      {texts('labels', 'Labels', 'Kubernetes labels of the nodes.')}
      {texts('taints', 'Taints', 'Kubernetes taints; a value has the form value:Effect, such as web:NoSchedule.')}
      {texts('crio_config', 'Container runtime', 'Settings of CRI-O.')}
      {texts('kubelet_config', 'Kubelet', 'Settings of the kubelet.')}
      <fieldset className="field">
        <legend className="label">Security groups</legend>
        {groups.data?.results.map(({ id, name }) => (
          <CheckField
            key={id}
            label={name}
            value={value.security_group_ids.includes(id)}
            onChange={(on) =>
              onChange({
                security_group_ids: on
                  ? [...value.security_group_ids, id]
                  : value.security_group_ids.filter((one) => one !== id),
              })
            }
          />
        ))}
        <p className="help">In addition to that of the platform.</p>
        <p className="fault" role="alert">
          {Object.entries(faults)
            .flatMap(([name, texts]) => (name.startsWith('security_group_ids') ? texts : []))
            .join(' ')}
        </p>
      </fieldset>
    </div>
  );
}
