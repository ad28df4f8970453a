import type { FieldProblem } from '../../../lib/errors.ts';
import { crioProblems, kubeletProblems } from '../../../lib/node-settings.ts';
import type { Scope } from '../../../platform.ts';
import { isBareMetal, isGpu } from '../../ground/catalog/flavor-schema.ts';
import type { Catalog } from '../../ground/catalog/service.ts';
import { labelProblems, taintProblems } from './node-texts.ts';
import type { PoolInput } from './schema.ts';

export interface PoolOffer {
  flavors: readonly { flavor_id: string; disabled: boolean; offered_for: readonly string[] }[];
  volumeTypes: readonly string[];
  /** Whether the region has an external network. */
  publicAddresses: boolean;
}

export function poolOffer(catalog: Catalog, { region }: Pick<Scope, 'region'>): PoolOffer {
  return {
    flavors: catalog.flavors(region.id),
    volumeTypes: region.available_volume_types ?? [],
    publicAddresses: region.external_network_id !== null,
  };
}

const VIRTUAL_FIELDS = ['boot_volume_size', 'boot_volume_type', 'servergroup_policy'] as const;

/** Returns the problems of a new cluster's pools, apart from security groups, which need the database. */
export function poolsProblems(pools: readonly PoolInput[], offer: PoolOffer): FieldProblem[] {
  return pools.flatMap((pool, index) => [
    ...nameProblems(pool, pools.slice(0, index), `pools.${index}.`),
    ...poolProblems(pool, offer, `pools.${index}.`),
  ]);
}

/** Returns the problems of one pool, except for name and groups. `path` in the body is empty or ends with a dot. */
export function poolProblems(pool: PoolInput, offer: PoolOffer, path = ''): FieldProblem[] {
  return [
    ...kindProblems(pool, offer, VIRTUAL_FIELDS, path),
    ...publicAddressProblems(pool, offer, path),
    ...sizeProblems({ min: pool.min_node_count, max: pool.max_node_count ?? pool.min_node_count }, path),
    ...settingsProblems(pool, path),
  ];
}

type Settings = Pick<PoolInput, 'labels' | 'taints' | 'crio_config' | 'kubelet_config'>;

/** Returns the problems of what nodes are told: their labels and taints, and the settings of their programs. */
export function settingsProblems(
  { labels, taints, crio_config, kubelet_config }: { [Name in keyof Settings]?: Settings[Name] | null },
  path = '',
): FieldProblem[] {
  return [
    ...labelProblems(labels ?? {}, `${path}labels`),
    ...taintProblems(taints ?? {}, `${path}taints`),
    ...crioProblems(crio_config ?? {}, `${path}crio_config`),
    ...kubeletProblems(kubelet_config ?? {}, `${path}kubelet_config`),
  ];
}

/** Whether one of the pools has machines with GPUs, on which Slurm's workers run. */
export const haveGpu = (pools: readonly { flavor_id: string }[]): boolean =>
  pools.some(({ flavor_id }) => isGpu(flavor_id));

function nameProblems(pool: PoolInput, before: readonly PoolInput[], path: string): FieldProblem[] {
  return before.some((other) => other.name === pool.name)
    ? [{ field: `${path}name`, message: `Another pool is named ${pool.name}. Pool names must be unique.` }]
    : [];
}

/** The fields that depend on the kind of machine. */
type Kind = Pick<PoolInput, 'flavor_id' | (typeof VIRTUAL_FIELDS)[number]>;

/** Returns the problems of the flavor, and of those `fields` that virtual machines need and bare metal can't have. */
export function kindProblems(
  pool: Kind,
  offer: PoolOffer,
  fields: readonly (typeof VIRTUAL_FIELDS)[number][],
  path: string,
): FieldProblem[] {
  const usable = offer.flavors.filter((item) => !item.disabled && item.offered_for.includes('kubernetes'));
  if (!usable.some((item) => item.flavor_id === pool.flavor_id)) {
    const known = offer.flavors.find((item) => item.flavor_id === pool.flavor_id);
    const fault = !known ? 'Unknown flavor' : known.disabled ? 'Withdrawn flavor' : 'Not for Kubernetes:';
    const names = usable.map((item) => item.flavor_id).join(', ');
    return [{ field: `${path}flavor_id`, message: `${fault} ${pool.flavor_id}. Must be one of: ${names}.` }];
  }
  const bareMetal = isBareMetal(pool.flavor_id);
  return [
    ...fields.flatMap((name): FieldProblem[] => {
      const given = pool[name] !== undefined && pool[name] !== null;
      if (given !== bareMetal) return [];
      const message = bareMetal
        ? `Must be left out: ${pool.flavor_id} is a bare metal flavor.`
        : `This field is required: ${pool.flavor_id} is a virtual machine flavor.`;
      return [{ field: `${path}${name}`, message }];
    }),
    ...volumeTypeProblems(pool, offer, bareMetal, path),
  ];
}

export function publicAddressProblems(
  { is_public_ipv4: wanted }: Pick<PoolInput, 'is_public_ipv4'>,
  { publicAddresses }: PoolOffer,
  path: string,
): FieldProblem[] {
  if (!wanted || publicAddresses) return [];
  return [{ field: `${path}is_public_ipv4`, message: 'This region has no public addresses. Leave it out.' }];
}

function volumeTypeProblems(pool: Kind, { volumeTypes }: PoolOffer, bareMetal: boolean, path: string): FieldProblem[] {
  const type = pool.boot_volume_type;
  if (bareMetal || type === undefined || type === null || volumeTypes.includes(type)) return [];
  const message = `Unknown volume type ${type}. This region offers: ${volumeTypes.join(', ')}.`;
  return [{ field: `${path}boot_volume_type`, message }];
}

export function sizeProblems({ min, max }: { min: number; max: number }, path = ''): FieldProblem[] {
  const message = `Must be at least min_node_count, which is ${min}.`;
  return max < min ? [{ field: `${path}max_node_count`, message }] : [];
}

const BOOT_FIELDS = ['boot_volume_size', 'boot_volume_type'] as const;

/** The fields of a possible pool that matter for its price. */
export type PossiblePool = Pick<PoolInput, 'flavor_id' | (typeof BOOT_FIELDS)[number] | 'is_public_ipv4'>;

/** Returns the problems of possible pools. A pool that names one field of the boot volume must name both. */
export function possibleProblems(pools: readonly PossiblePool[], offer: PoolOffer): FieldProblem[] {
  return pools.flatMap((pool, index) => {
    const fields = BOOT_FIELDS.some((name) => (pool[name] ?? null) !== null) ? BOOT_FIELDS : [];
    return [
      ...kindProblems(pool, offer, fields, `pools.${index}.`),
      ...publicAddressProblems(pool, offer, `pools.${index}.`),
    ];
  });
}
