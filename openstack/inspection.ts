import { type Static, Type } from 'typebox';
import type { Inspection } from '../src/backends/contract/backend.ts';
import { type Api, MICROVERSIONS } from './cloud/client.ts';
import { SERVICES, type Service } from './cloud/errors.ts';

/* What a cloud is and has, read for an operator. */

/** In the order in which people name them. */
export const NEEDED = ['compute', 'network', 'volume', 'image'] as const satisfies Service[];

/** Those that not every cloud has, as operators name them. */
export const OPTIONAL = { barbican: 'key-manager', octavia: 'load-balancer' } as const satisfies Record<
  string,
  Service
>;
export type Optional = keyof typeof OPTIONAL;

const Text = Type.Union([Type.String(), Type.Null()]);
const Flavor = Type.Object({
  id: Type.String(),
  name: Type.String(),
  vcpus: Type.Integer(),
  /** In MiB. */
  ram: Type.Integer(),
  /** In GiB. */
  disk: Type.Integer(),
  /** Left out for who may not see them. */
  extra_specs: Type.Optional(Type.Record(Type.String(), Type.String())),
});
const Image = Type.Object({
  id: Type.String(),
  name: Text,
  status: Type.String(),
  visibility: Type.String(),
  owner: Type.Optional(Text),
  os_hidden: Type.Optional(Type.Boolean()),
  os_distro: Type.Optional(Text),
  os_version: Type.Optional(Text),
  architecture: Type.Optional(Text),
  tags: Type.Array(Type.String()),
  created_at: Type.String(),
});
const VolumeType = Type.Object({ name: Type.String() });
const Network = Type.Object({ id: Type.String(), name: Type.String() });
const Subnet = Type.Object({
  network_id: Type.String(),
  cidr: Type.String(),
  gateway_ip: Text,
  allocation_pools: Type.Array(Type.Object({ start: Type.String(), end: Type.String() })),
});
const Default = Type.Object({ volume_type: VolumeType });
const LoadBalancerFlavor = Type.Object({ id: Type.String(), name: Type.String(), enabled: Type.Boolean() });

export type CloudFlavor = Static<typeof Flavor>;
export type CloudImage = Static<typeof Image>;
export type CloudSubnet = Static<typeof Subnet>;
export interface CloudNetwork extends Static<typeof Network> {
  subnets: CloudSubnet[];
}

/** What can be had in a cloud. */
export interface Inventory {
  projectId: string;
  flavors: CloudFlavor[];
  images: CloudImage[];
  /** By name. */
  volumeTypes: string[];
  /** What a volume without a type gets. */
  defaultVolumeType: string | undefined;
  externalNetworks: CloudNetwork[];
  /** Those of Octavia that can be had. It makes load balancers without any, too. */
  loadBalancerFlavors: { id: string; name: string }[];
}

/** Returns the services and their versions, and which of the `used` ones are missing or too old. */
export async function servicesOf(api: Api, used: readonly Optional[]): Promise<Inspection> {
  const services = [...NEEDED, ...used.map((name) => OPTIONAL[name])];
  const found = await Promise.all(
    services.map(async (service) => ({ service, version: (await api.has(service)) && (await api.version(service)) })),
  );
  return {
    has: found.flatMap(({ service, version }) => (version ? [`${SERVICES[service].name} ${version}`] : [])).join(', '),
    lacks: found.flatMap(({ service, version }) => lackOf(service, version)),
  };
}

function lackOf(service: Service, version: string | false): string[] {
  const { name } = SERVICES[service];
  if (version === false) return [`the cloud has no ${name}`];
  const needed = service in MICROVERSIONS && MICROVERSIONS[service as keyof typeof MICROVERSIONS];
  if (!needed || isAtLeast(version, needed)) return [];
  return [`${name} has version ${version}, and ${needed} is needed: that of OpenStack Train, or newer`];
}

/** Compares versions such as 2.79 and 2.100. */
export function isAtLeast(version: string, needed: string): boolean {
  const [[major = 0, minor = 0], [neededMajor = 0, neededMinor = 0]] = [version, needed].map((text) =>
    text.split('.').map(Number),
  ) as [number[], number[]];
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}

export async function inventoryOf(api: Api, used: readonly Optional[]): Promise<Inventory> {
  const [projectId, flavors, images, types, standard, networks, balancerFlavors] = await Promise.all([
    api.projectId(),
    api.list('compute', '/flavors/detail', Flavor, undefined, 'flavors'),
    api.list('image', '/images', Image),
    api.list('volume', '/types', VolumeType, undefined, 'volume_types'),
    api.find('volume', '/types/default', Default),
    api.list('network', '/networks', Network, { 'router:external': 'true' }),
    used.includes('octavia') ? api.list('load-balancer', '/flavors', LoadBalancerFlavor) : [],
  ]);
  return {
    projectId,
    flavors,
    images,
    volumeTypes: types.map(({ name }) => name),
    loadBalancerFlavors: balancerFlavors.filter(({ enabled }) => enabled),
    defaultVolumeType: standard?.volume_type.name,
    externalNetworks: await Promise.all(
      networks.map(async (network) => ({
        ...network,
        subnets: await api.list('network', '/subnets', Subnet, { network_id: network.id }),
      })),
    ),
  };
}
