import type { VolumeType } from '../../lib/volume-types.ts';

/**
 * What is wanted of each kind of thing, whole: a backend needs no other source. What comes and goes one by one is an
 * object by id, and what isn't there is left out instead of null, so that every change can be undone by a merge patch
 * (RFC 7396) whatever else changed meanwhile.
 */
export interface Specs {
  network: NetworkSpec;
  subnet: SubnetSpec;
  port: PortSpec;
  security_group: SecurityGroupSpec;
  floating_ip: FloatingIpSpec;
  volume: VolumeSpec;
  snapshot: SnapshotSpec;
  image: ImageSpec;
  file_share: FileShareSpec;
  machine: MachineSpec;
  cluster: ClusterSpec;
}

type Nothing = Record<string, never>;

/**
 * What is known of a thing once it is as wanted. A member `secret` is kept nowhere: it reaches the end of a task that waits
 * for that thing alone.
 */
export interface Observations {
  network: Nothing;
  subnet: Nothing;
  port: Nothing;
  security_group: Nothing;
  floating_ip: Nothing;
  volume: Nothing;
  snapshot: Nothing;
  image: Nothing;
  file_share: { connectionPoint: string };
  machine: Nothing;
  cluster: ClusterObservation;
}

type Tags = Record<string, string>;

export interface NetworkSpec {
  name: string;
  type: 'vlan' | 'vxlan';
  mtu: number;
  metadata: Tags;
}

export interface SubnetSpec {
  name: string;
  networkId: string;
  cidr: string;
  dhcp: boolean;
  gatewayIp?: string;
  dnsNameservers: string[];
  hostRoutes: { destination: string; nexthop: string }[];
  metadata: Tags;
}

export interface PortSpec {
  networkId: string;
  /** By address. */
  addresses: Record<string, { subnetId: string }>;
  macAddress: string;
  portSecurity: boolean;
  /** Ids of security groups. */
  groups: Record<string, true>;
  addressPairs: { ipAddress: string; macAddress?: string }[];
  /** It stays when no machine has it. */
  reserved?: true;
  metadata: Tags;
}

export interface SecurityGroupSpec {
  name: string;
  description: string;
  /** By their id. */
  rules: Record<string, SecurityRuleSpec>;
}

/** What is left out doesn't matter for the rule. */
export interface SecurityRuleSpec {
  direction: 'egress' | 'ingress';
  ethertype: 'IPv4' | 'IPv6';
  protocol?: string;
  portRangeMin?: number;
  portRangeMax?: number;
  remoteIpPrefix?: string;
  remoteGroupId?: string;
}

export interface FloatingIpSpec {
  address: string;
  target?: { portId: string; fixedAddress: string };
  /** The port that had the address before, where one was converted: two can't have it at a time. */
  formerPortId?: string;
  metadata: Tags;
}

export interface VolumeSpec {
  name: string;
  sizeGib: number;
  volumeType: VolumeType;
  /** What it is filled with when it is made. */
  source?: { imageId: string } | { snapshotId: string };
  metadata: Tags;
  /** How many times it went back to a snapshot, and to which one last. */
  reverts?: { times: number; snapshotId: string };
}

export interface SnapshotSpec {
  name: string;
  volumeId: string;
  metadata: Tags;
}

export interface ImageSpec {
  name: string;
  volumeId: string;
  osType: 'linux' | 'windows';
  architecture: 'aarch64' | 'x86_64';
  /** `hw_firmware_type` and such, as Glance names them. */
  properties: Record<string, string>;
  metadata: Tags;
}

export interface FileShareSpec {
  name: string;
  type: 'standard' | 'vast';
  sizeGib: number;
  /** What a standard share is reached through. */
  subnet?: { networkId: string; subnetId: string };
  /** Who may reach it, by the rule's id. */
  access: Record<string, { to: string; level: 'ro' | 'rw' }>;
  /** Of a VAST share. Names look like those of every client (LCD), or like those of its own protocol (NPL). */
  settings?: { rootSquash: boolean; pathLength?: 'LCD' | 'NPL'; allowedCharacters?: 'LCD' | 'NPL' };
  metadata: Tags;
}

export interface MachineSpec {
  name: string;
  flavorId: string;
  /** By volume. */
  disks: Record<string, { device: string; bootIndex?: number; tag?: string; deleteOnTermination: boolean }>;
  /** By port, with the place in the order of the machine's interfaces. */
  ports: Record<string, { position: number }>;
  publicKey?: string;
  /** Of a machine that has them, `user_data` and `password` are secrets of the call. */
  secrets: Record<string, true>;
  username?: string;
  power: 'off' | 'on' | 'suspended';
  /** How many times somebody asked for it. */
  reboots: { soft: number; hard: number };
  metadata: Tags;
}

export interface ClusterSpec {
  name: string;
  /**
   * With the leading `v`. After a failed upgrade the former one is wanted again. Kubernetes goes no version down, though,
   * and runs well with nodes that are older than their control plane: a backend that is on the way to the newer one stays
   * where it is and says that the cluster is as wanted. The same upgrade, wanted again, goes on from there.
   */
  version: string;
  /** Of the nodes' user. */
  publicKey?: string;
  /** What was asked for; where the nodes really are is in their ports. */
  network: { networkId?: string; subnetId?: string; ipv6: boolean };
  pods: { ipv4: string; ipv6?: string };
  services: { ipv4: string; ipv6?: string };
  /** Whether its pods may use VAST file shares. */
  vastShares: boolean;
  /** The six groups of settings as the API has them, without what is null there. */
  configuration: Record<string, unknown>;
  /** Of the users of Slurm, by the ids that the configuration names. */
  slurmPublicKeys: Record<string, string>;
  /** By name. */
  pools: Record<string, ClusterPoolSpec>;
}

export interface ClusterPoolSpec {
  id: string;
  flavorId: string;
  /** Bare metal has disks of its own. */
  bootVolume?: { sizeGib: number; type: VolumeType };
  serverGroupPolicy?: string;
  publicAddresses: boolean;
  minNodes: number;
  maxNodes: number;
  autoHealing: boolean;
  labels: Record<string, string>;
  taints: Record<string, string>;
  crioConfig: Record<string, string>;
  kubeletConfig: Record<string, string>;
  /** Ids of the groups of its nodes, with the one that all nodes of the cluster are in. */
  securityGroups: Record<string, true>;
  /** The id of each node is also that of its machine. */
  nodes: Record<string, ClusterNodeSpec>;
}

/** Machine, ports and disk of a node are the cluster's own: nobody wants them besides. */
export interface ClusterNodeSpec {
  name: string;
  /** A disk that has snapshots stays when its node goes, and is wanted as a volume from then on. */
  bootVolumeId?: string;
  /** By id, with the place in the order of the machine's interfaces. */
  ports: Record<string, PortSpec & { position: number }>;
}

export interface ClusterObservation {
  /** Where its API server answers, as a URL. */
  endpoint: string;
  /** PEM, as everything below. The second one is for an administrator, and signed by the first. */
  caCertificate: string;
  clientCertificate: string;
  secret?: { caKey: string; clientKey: string };
}
