import { randomUUID } from 'node:crypto';
import type { Kind } from '../../src/backends/contract/backend.ts';
import type { Specs } from '../../src/backends/contract/specs.ts';

/** One thing of a kind: as it is made, and as it is changed later. */
export interface Sample<K extends Kind = Kind> {
  id: string;
  spec: Specs[K];
  changed: Specs[K];
}

export type Samples = { [K in Kind]: Sample<K> };

const ID = randomUUID;
const TAGS = { made_by: 'conformance' };

function sample<K extends Kind>(id: string, spec: Specs[K], change: Partial<Specs[K]>): Sample<K> {
  return { id, spec, changed: { ...spec, ...change } };
}

/** Versions of Kubernetes, of one minor and the next. */
export type Versions = readonly [string, string];

let lastAddress = 0;
/** Returns another address of 198.19.0.0/16 at each call: two things can't have the same one in a real network. */
const newAddress = (): string => `198.19.${Math.trunc(++lastAddress / 200)}.${10 + (lastAddress % 200)}`;

/** Returns one new thing of each kind at each call, which need each other like real ones, with addresses in the external network. */
export function newSamples(
  [version, later]: Versions = ['v1.31.0', 'v1.32.0'],
  externalNetworkId: string = ID(),
): Samples {
  const [network, subnet, router, port, group, volume, snapshot, machine, serverGroup, pool] = [
    ID(),
    ID(),
    ID(),
    ID(),
    ID(),
    ID(),
    ID(),
    ID(),
    ID(),
    ID(),
  ];
  const networkSpec: Specs['network'] = { name: 'office', type: 'vxlan', mtu: 1450, metadata: {} };
  const addresses = { '10.1.0.10': { subnetId: subnet } };
  const cluster: Specs['cluster'] = {
    name: 'demo',
    version,
    network: { networkId: network, subnetId: subnet, ipv6: false },
    pods: { ipv4: '172.16.0.0/18' },
    services: { ipv4: '172.24.0.0/18' },
    configuration: {},
    vastShares: false,
    slurmPublicKeys: {},
    pools: {
      workers: {
        id: ID(),
        flavorId: 'g1-standard-2-4',
        publicAddresses: false,
        minNodes: 1,
        maxNodes: 1,
        autoHealing: false,
        labels: {},
        taints: {},
        crioConfig: {},
        kubeletConfig: {},
        securityGroups: { [group]: true },
        nodes: { [ID()]: { name: 'workers-1', ports: {} } },
      },
    },
  };
  return {
    network: sample<'network'>(network, networkSpec, { name: 'branch', metadata: TAGS }),
    subnet: sample<'subnet'>(
      subnet,
      {
        name: 'desks',
        networkId: network,
        cidr: '10.1.0.0/24',
        dhcp: true,
        gatewayIp: '10.1.0.1',
        dnsNameservers: ['192.0.2.53'],
        hostRoutes: [],
        metadata: {},
      },
      { dnsNameservers: [], hostRoutes: [{ destination: '10.2.0.0/16', nexthop: '10.1.0.2' }] },
    ),
    router: sample<'router'>(
      router,
      {
        name: 'way out',
        gateway: {
          networkId: externalNetworkId,
          sourceNat: true,
          addresses: { [newAddress()]: { subnetId: ID() } },
        },
        interfaces: {
          [ID()]: {
            networkId: network,
            subnetId: subnet,
            address: '10.1.0.1',
            macAddress: 'fa:16:3e:01:02:02',
          },
        },
        routes: [],
      },
      { routes: [{ destination: '10.3.0.0/16', nexthop: '10.1.0.3' }] },
    ),
    security_group: sample<'security_group'>(
      group,
      {
        name: 'web',
        description: '',
        rules: {
          [ID()]: {
            direction: 'ingress',
            ethertype: 'IPv4',
            protocol: 'tcp',
            portRangeMin: 80,
            portRangeMax: 80,
          },
        },
      },
      { rules: { [ID()]: { direction: 'egress', ethertype: 'IPv6', protocol: 'any' } } },
    ),
    port: sample<'port'>(
      port,
      {
        networkId: network,
        addresses,
        macAddress: 'fa:16:3e:01:02:03',
        portSecurity: true,
        groups: { [group]: true },
        addressPairs: [],
        metadata: {},
      },
      { groups: {}, addressPairs: [{ ipAddress: '10.1.0.200' }] },
    ),
    floating_ip: sample<'floating_ip'>(
      ID(),
      {
        address: newAddress(),
        target: { portId: port, fixedAddress: '10.1.0.10', routerId: router },
        metadata: {},
      },
      { metadata: TAGS },
    ),
    load_balancer: sample<'load_balancer'>(
      ID(),
      {
        name: 'shop',
        flavorId: 'lb1-1-2',
        portId: port,
        enabled: true,
        connectivity: 'L2',
        failovers: 0,
        listeners: {
          [ID()]: {
            name: 'web',
            protocol: 'HTTP',
            port: 80,
            enabled: true,
            defaultPoolId: pool,
            connectionLimit: 100_000,
            forwardedHeaders: true,
            timeouts: {},
            users: {},
            policies: {},
          },
        },
        pools: {
          [pool]: {
            name: 'servers',
            protocol: 'HTTP',
            algorithm: 'ROUND_ROBIN',
            enabled: true,
            timeouts: {},
            monitor: { type: 'TCP', enabled: true, delay: 10, timeout: 5, retries: 2, retriesDown: 3 },
            members: {
              [ID()]: {
                address: '10.1.0.20',
                port: 80,
                subnetId: subnet,
                weight: 1,
                backup: false,
                enabled: true,
              },
            },
          },
        },
        metadata: {},
      },
      { name: 'store', flavorId: 'lb1-2-4', failovers: 1, metadata: TAGS },
    ),
    volume: sample<'volume'>(
      volume,
      { name: 'data', sizeGib: 1, volumeType: 'standard', metadata: {} },
      { sizeGib: 2, metadata: TAGS },
    ),
    snapshot: sample<'snapshot'>(snapshot, { name: 'before', volumeId: volume, metadata: {} }, { metadata: TAGS }),
    ddos_profile: sample<'ddos_profile'>(
      ID(),
      { address: '198.19.16.5', templateId: 29, fields: { 10: { value: [45046] } }, active: true, bgp: true },
      { active: false },
    ),
    image: sample<'image'>(
      ID(),
      {
        name: 'golden',
        volumeId: volume,
        osType: 'linux',
        architecture: 'x86_64',
        properties: {},
        metadata: {},
      },
      { name: 'platinum' },
    ),
    file_share: sample<'file_share'>(
      ID(),
      {
        name: 'home',
        type: 'standard',
        sizeGib: 1,
        subnet: { networkId: network, subnetId: subnet },
        access: { [ID()]: { to: '10.1.0.10', level: 'rw' } },
        metadata: {},
      },
      { sizeGib: 2, access: {} },
    ),
    secret: sample<'secret'>(
      ID(),
      { name: 'web', type: 'opaque', secrets: { payload: true } },
      { expiresAt: '2035-01-01T00:00:00Z' },
    ),
    server_group: sample<'server_group'>(
      serverGroup,
      { name: 'apart', policy: 'anti-affinity' },
      { name: 'still apart' },
    ),
    machine: sample<'machine'>(
      machine,
      {
        name: 'web-1',
        flavorId: 'g1-standard-1-2',
        disks: { [volume]: { device: '/dev/vda', bootIndex: 0, deleteOnTermination: true } },
        ports: { [port]: { position: 0 } },
        serverGroupId: serverGroup,
        secrets: { user_data: true },
        power: 'on',
        reboots: { soft: 0, hard: 0 },
        metadata: {},
      },
      { power: 'off', reboots: { soft: 1, hard: 0 } },
    ),
    cluster: sample<'cluster'>(ID(), cluster, { version: later, configuration: {} }),
  };
}
