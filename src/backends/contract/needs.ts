import type { TSchema } from 'typebox';
import type { Kind } from './backend.ts';
import type { Specs } from './specs.ts';

/** Another thing that must be as wanted before this one can be made or changed. */
export interface Need {
  kind: Kind;
  id: string;
  /** True if the need ends once the thing exists, as with the snapshot that a volume was filled from. */
  onlyAtFirst?: boolean;
}

const all = (kind: Kind, byId: object): Need[] => Object.keys(byId).map((id) => ({ kind, id }));

const one = (kind: Kind, id: string | undefined): Need[] => (id === undefined ? [] : [{ kind, id }]);
const atFirst = (kind: Kind, id: string | undefined): Need[] =>
  one(kind, id).map((need) => ({ ...need, onlyAtFirst: true }));

/** Which things need which. A thing that nobody wants, such as the platform's own networks, is assumed to exist. */
const NEEDS: { [K in Kind]: (spec: Specs[K]) => Need[] } = {
  network: () => [],
  security_group: () => [],
  secret: () => [],
  subnet: ({ networkId }) => one('network', networkId),
  router: ({ interfaces }) =>
    Object.values(interfaces).flatMap(({ networkId, subnetId }) => [
      ...one('network', networkId),
      ...one('subnet', subnetId),
    ]),
  port: ({ networkId, addresses, groups, formerFloatingIpId }) => [
    ...one('network', networkId),
    ...Object.values(addresses).flatMap(({ subnetId }) => one('subnet', subnetId)),
    ...all('security_group', groups),
    ...atFirst('floating_ip', formerFloatingIpId),
  ],
  floating_ip: ({ target, formerPortId }) => [
    ...one('port', target?.portId),
    ...one('router', target?.routerId),
    ...atFirst('port', formerPortId),
  ],
  load_balancer: ({ portId, listeners, pools }) => {
    const ofPools = Object.values(pools);
    const subnets = ofPools.flatMap(({ members }) => Object.values(members).map(({ subnetId }) => subnetId));
    const secrets = [
      ...Object.values(listeners).flatMap(({ certificates: of }) => (of ? [of.secretId, ...of.furtherIds] : [])),
      ...ofPools.flatMap(({ tls = {} }) => [tls.secretId, tls.authoritiesId, tls.revokedId]),
    ];
    return [
      ...one('port', portId),
      ...[...new Set(subnets)].flatMap((id) => one('subnet', id)),
      ...[...new Set(secrets)].flatMap((id) => one('secret', id)),
    ];
  },
  ddos_profile: () => [],
  volume: ({ source }) => {
    if (!source) return [];
    return 'imageId' in source ? atFirst('image', source.imageId) : atFirst('snapshot', source.snapshotId);
  },
  snapshot: ({ volumeId }) => one('volume', volumeId),
  image: ({ volumeId }) => atFirst('volume', volumeId),
  file_share: ({ subnet }) => [...one('network', subnet?.networkId), ...one('subnet', subnet?.subnetId)],
  server_group: () => [],
  machine: ({ ports, disks, serverGroupId }) => [
    ...all('port', ports),
    ...all('volume', disks),
    ...one('server_group', serverGroupId),
  ],
  cluster: ({ network, pools }) => {
    const needs = [
      ...one('network', network.networkId),
      ...one('subnet', network.subnetId),
      ...Object.values(pools).flatMap(({ securityGroups, nodes }) => [
        ...all('security_group', securityGroups),
        ...Object.values(nodes).flatMap(({ ports }) => Object.values(ports).flatMap(NEEDS.port)),
      ]),
    ];
    // All nodes need much the same things.
    return [...new Map(needs.map((need) => [`${need.kind}:${need.id}`, need])).values()];
  },
};

export function needsOf<K extends Kind>(kind: K, spec: Specs[K]): Need[] {
  return NEEDS[kind](spec);
}

export const FAMILIES = {
  network: [
    'network',
    'subnet',
    'router',
    'port',
    'security_group',
    'floating_ip',
    'load_balancer',
    'ddos_profile',
    'secret',
  ],
  compute: ['machine', 'server_group'],
  storage: ['volume', 'snapshot', 'image'],
  kubernetes: ['cluster'],
  file_share: ['file_share'],
} as const satisfies Record<BackendFamily, readonly Kind[]>;

/** Kinds that hold data of which there is no other copy. */
const HOLDING_DATA: ReadonlySet<Kind> = new Set(['volume', 'snapshot', 'image', 'file_share', 'cluster']);

export const holdsData = (kind: Kind): boolean => HOLDING_DATA.has(kind);

const families = new Map(
  Object.entries(FAMILIES).flatMap(([family, kinds]) => kinds.map((kind) => [kind, family as BackendFamily] as const)),
) as ReadonlyMap<Kind, BackendFamily>;

export function familyOf(kind: Kind): BackendFamily {
  const family = families.get(kind);
  if (!family) throw new Error(`${kind} belongs to no family`);
  return family;
}

export interface BackendEntry {
  name: string;
  /** The kind of backend, e.g. `simulated`. */
  kind: string;
  settings: Record<string, unknown>;
  /** Absolute paths of the files that contain the secrets, by secret name. */
  secrets: Record<string, string>;
}

/** What a catalogue must specify for backends of a kind. */
export interface BackendShape {
  settings: TSchema;
  /** Names of the secrets that the backend needs. */
  secrets: readonly string[];
  /** What the backend can do; everything by default. */
  families?: readonly BackendFamily[];
  /**
   * How many of the lowest addresses of a new subnet, the gateway's aside, the backend keeps for itself, such as for DHCP
   * and load balancers: nobody else is given them. None by default. It is asked without a backend, so it looks at nothing else.
   */
  keeps?(settings: Record<string, unknown>, subnet: AddressSpace): number;
}

/** What of a subnet decides which addresses are kept. */
export interface AddressSpace {
  cidr: string;
  dhcp: boolean;
  gateway: string | null;
}
export type BackendShapes = Readonly<Record<string, BackendShape>>;

/** Which backend serves which region and family. */
export interface Placements {
  readonly backends: ReadonlyMap<string, BackendEntry>;
  readonly regions: ReadonlyMap<number, unknown>;
  /** Returns undefined for a region that does not exist. */
  backendOf(regionId: number, family: BackendFamily): BackendEntry | undefined;
  /** Memory is in MiB. Returns undefined for a flavor that the region does not have. */
  flavor(regionId: number, flavorId: string): { vcpus: number; ram: number } | undefined;
}

/** Groups of kinds that a region assigns to a backend together. */
export const BACKEND_FAMILIES = ['network', 'compute', 'storage', 'kubernetes', 'file_share'] as const;
export type BackendFamily = (typeof BACKEND_FAMILIES)[number];
