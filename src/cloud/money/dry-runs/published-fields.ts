import { isDeepStrictEqual } from 'node:util';
import type { Kind } from '../../../backends/contract/backend.ts';
import type { Specs } from '../../../backends/contract/specs.ts';

type Fields<K extends Kind> = Record<keyof Required<Specs[K]>, readonly string[]>;

const NAME = { name: ['name'] };
const TAGS = { metadata: ['tags'] };
/** The pools of a load balancer and the access rules of a file share are listed at addresses of their own. */
export const PUBLISHED: { readonly [K in Kind]: Fields<K> } = {
  network: { ...NAME, ...TAGS, type: ['type'], mtu: ['mtu'] },
  subnet: {
    ...NAME,
    ...TAGS,
    networkId: ['network_id'],
    cidr: ['cidr'],
    dhcp: ['enable_dhcp'],
    gatewayIp: ['gateway_ip'],
    dnsNameservers: ['dns_nameservers'],
    hostRoutes: ['host_routes'],
    platformRouted: [],
  },
  router: { ...NAME, gateway: ['external_gateway_info'], interfaces: ['interfaces'], routes: ['routes'] },
  port: {
    ...TAGS,
    networkId: ['network_id'],
    addresses: ['ip_assignments'],
    macAddress: ['mac_address'],
    portSecurity: ['port_security_enabled'],
    groups: ['security_group_ids'],
    addressPairs: ['allowed_address_pairs'],
    formerFloatingIpId: [],
    reserved: [],
  },
  security_group: { ...NAME, description: ['description'], rules: ['security_group_rules'] },
  floating_ip: {
    ...TAGS,
    address: ['floating_ip_address'],
    target: ['fixed_ip_address', 'port_id', 'router_id'],
    formerPortId: [],
  },
  load_balancer: {
    ...NAME,
    metadata: ['tags_v2'],
    flavorId: ['flavor'],
    portId: ['vip_port_id'],
    enabled: ['admin_state_up'],
    connectivity: ['preferred_connectivity'],
    failovers: [],
    logging: ['logging'],
    listeners: ['listeners'],
    pools: ['pools'],
  },
  ddos_profile: {
    address: ['ip_address'],
    templateId: ['profile_template'],
    fields: ['fields'],
    active: ['options'],
    bgp: ['options'],
  },
  volume: { ...NAME, ...TAGS, sizeGib: ['size'], volumeType: ['volume_type'], source: [], reverts: [] },
  snapshot: { ...NAME, ...TAGS, volumeId: ['volume_id'] },
  image: {
    ...NAME,
    metadata: ['tags_v2'],
    volumeId: [],
    sourceUrl: [],
    copyOnWrite: [],
    osType: ['os_type'],
    architecture: ['architecture'],
    properties: ['hw_firmware_type', 'hw_machine_type', 'is_baremetal', 'ssh_key'],
  },
  file_share: {
    ...NAME,
    ...TAGS,
    type: ['type_name'],
    sizeGib: ['size'],
    subnet: ['network_id', 'subnet_id'],
    access: ['access'],
    settings: ['share_settings'],
  },
  secret: { ...NAME, type: ['secret_type'], secrets: [], expiresAt: ['expiration'] },
  server_group: { ...NAME, policy: ['policy'] },
  machine: {
    ...NAME,
    ...TAGS,
    flavorId: ['flavor'],
    disks: ['volumes'],
    ports: ['addresses'],
    serverGroupId: [],
    publicKey: ['ssh_key_name'],
    secrets: [],
    username: [],
    power: ['vm_state'],
    reboots: [],
  },
  cluster: {
    ...NAME,
    version: ['version'],
    publicKey: ['keypair'],
    network: ['fixed_network', 'fixed_subnet', 'is_ipv6'],
    pods: ['pods_ip_pool', 'pods_ipv6_pool'],
    services: ['services_ip_pool', 'services_ipv6_pool'],
    vastShares: ['csi'],
    configuration: [],
    slurmPublicKeys: ['add_ons'],
    pools: ['pools'],
  },
};

/** Returns the fields of a thing that differ, by their names in the API. What the API doesn't show has none. */
export function changedFields(kind: Kind, former: object, spec: object): string[] {
  const published: Readonly<Record<string, readonly string[]>> = PUBLISHED[kind];
  const names = differing(former, spec).flatMap((field) => published[field] ?? []);
  // The groups of a cluster's settings have the names of the API.
  const groups = differing(groupsOf(former), groupsOf(spec));
  return [...new Set([...names, ...groups])].sort();
}

function differing(former: object, spec: object): string[] {
  const [before, after] = [former, spec] as [Record<string, unknown>, Record<string, unknown>];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (field) => !isDeepStrictEqual(before[field], after[field]),
  );
}

const groupsOf = (spec: { configuration?: object }): object => spec.configuration ?? {};
