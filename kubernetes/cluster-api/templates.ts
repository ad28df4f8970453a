import type { ClusterPoolSpec, ClusterSpec } from '../../src/backends/contract/specs.ts';

/** An object of the infrastructure provider, as the operator describes it. */
export interface Template {
  apiVersion: string;
  kind: string;
  spec: Record<string, unknown>;
}

export interface Place {
  id: string;
  regionId: number;
  projectId: number;
}

type Value = number | string | undefined;

/** What an operator may write as `{name}` in a template, and what it stands for. */
const OF_CLUSTER: Record<string, (spec: ClusterSpec, place: Place) => Value> = {
  cluster_id: (_, { id }) => id,
  cluster_name: ({ name }) => name,
  network_id: ({ network }) => network.networkId,
  project_id: (_, { projectId }) => projectId,
  public_key: ({ publicKey }) => publicKey,
  region_id: (_, { regionId }) => regionId,
  subnet_id: ({ network }) => network.subnetId,
  version: ({ version }) => version,
};
const OF_POOL: Record<string, (pool: ClusterPoolSpec) => Value> = {
  boot_volume_gib: ({ bootVolume }) => bootVolume?.sizeGib,
  boot_volume_type: ({ bootVolume }) => bootVolume?.type,
  flavor_id: ({ flavorId }) => flavorId,
  server_group_policy: ({ serverGroupPolicy }) => serverGroupPolicy,
};

const PLACEHOLDER = /\{([a-z_]+)\}/g;

/**
 * Returns the template's spec with its placeholders filled in. A member that is nothing but a placeholder keeps the
 * type of its value, and is left out where there is none.
 */
export function filled(
  { spec }: Template,
  cluster: ClusterSpec,
  place: Place,
  pool?: ClusterPoolSpec,
): Record<string, unknown> {
  const meaningOf = (name: string): Value => OF_CLUSTER[name]?.(cluster, place) ?? (pool && OF_POOL[name]?.(pool));
  return fill(spec) as Record<string, unknown>;

  function fill(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(fill).filter((item) => item !== undefined);
    if (typeof value === 'string') {
      const [whole, name = ''] = /^\{([a-z_]+)\}$/.exec(value) ?? [];
      if (whole !== undefined) return meaningOf(name);
      return value.replace(PLACEHOLDER, (_, part: string) => String(meaningOf(part) ?? ''));
    }
    if (value === null || typeof value !== 'object') return value;
    const members = Object.entries(value).map(([name, member]) => [name, fill(member)] as const);
    return Object.fromEntries(members.filter(([, member]) => member !== undefined));
  }
}

/** Returns the placeholders of a template that mean nothing. */
export function unknownPlaceholders({ spec }: Template, { ofPool }: { ofPool: boolean }): string[] {
  const names = [...JSON.stringify(spec).matchAll(PLACEHOLDER)].map(([, name = '']) => name);
  return names.filter((name) => !(name in OF_CLUSTER || (ofPool && name in OF_POOL)));
}

/** Joins what we set with what the operator set: objects member by member, and lists one after the other. */
export function joined(ours: unknown, theirs: unknown): unknown {
  if (theirs === undefined) return ours;
  if (Array.isArray(ours) && Array.isArray(theirs)) return [...ours, ...theirs];
  if (!isObject(ours) || !isObject(theirs)) return theirs;
  const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])];
  return Object.fromEntries(names.map((name) => [name, joined(ours[name], theirs[name])]));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
