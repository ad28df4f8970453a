import type { VolumeType } from '../../lib/volume-types.ts';

/**
 * The complete desired state of each kind of thing: a backend needs no other source. Elements that come and
 * go individually are an object by id, and absent fields are left out instead of null, so that a merge patch
 * (RFC 7396) can undo any change, whatever else has changed since.
 */
export interface Specs {
  network: NetworkSpec;
  subnet: SubnetSpec;
  router: RouterSpec;
  port: PortSpec;
  security_group: SecurityGroupSpec;
  floating_ip: FloatingIpSpec;
  load_balancer: LoadBalancerSpec;
  ddos_profile: DdosProfileSpec;
  volume: VolumeSpec;
  snapshot: SnapshotSpec;
  image: ImageSpec;
  file_share: FileShareSpec;
  secret: SecretSpec;
  server_group: ServerGroupSpec;
  machine: MachineSpec;
  cluster: ClusterSpec;
}

type Nothing = Record<string, never>;

/**
 * What is known of a thing once it is as wanted. A member `secret` is not stored: only a task that waits for
 * this thing alone gets it when it ends.
 */
export interface Observations {
  network: Nothing;
  subnet: Nothing;
  router: Nothing;
  port: Nothing;
  security_group: Nothing;
  floating_ip: Nothing;
  load_balancer: LoadBalancerObservation;
  ddos_profile: Nothing;
  volume: Nothing;
  snapshot: Nothing;
  /** The size of a downloaded image, if the backend knows it. */
  image: { sizeBytes?: number };
  file_share: { connectionPoint: string };
  secret: Nothing;
  server_group: Nothing;
  machine: MachineObservation;
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
  /** The platform leads out of it while no router has an interface in it, as with default networks. */
  platformRouted?: true;
  metadata: Tags;
}

export interface RouterSpec {
  name: string;
  /** Absent if the router leads nowhere. */
  gateway?: {
    /** An external network of the platform. */
    networkId: string;
    /** Whether machines without a floating IP reach the outside, with the router's address as their source. */
    sourceNat: boolean;
    /** By address. */
    addresses: Record<string, { subnetId: string }>;
  };
  /** By port id. The ports belong to the router: there are no other wants for them. */
  interfaces: Record<string, { networkId: string; subnetId: string; address: string; macAddress: string }>;
  routes: { destination: string; nexthop: string }[];
}

export interface PortSpec {
  networkId: string;
  /** By address. */
  addresses: Record<string, { subnetId: string }>;
  macAddress: string;
  portSecurity: boolean;
  /** Ids of security groups. */
  groups: Record<string, true>;
  /** A pair without a hardware address uses that of the port. */
  addressPairs: { ipAddress: string; macAddress?: string }[];
  /** The floating IP that had the address before, if it was converted: two things can't have it at the same time. */
  formerFloatingIpId?: string;
  /** The port stays when no machine uses it. */
  reserved?: true;
  metadata: Tags;
}

export interface SecurityGroupSpec {
  name: string;
  description: string;
  /** By rule id. */
  rules: Record<string, SecurityRuleSpec>;
}

/** A field that is left out matches everything. */
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
  /** `routerId` is the router that leads out; absent where the platform routes by itself. */
  target?: { portId: string; fixedAddress: string; routerId?: string };
  /** The port that had the address before, if the address was converted: two ports can't have it at the same time. */
  formerPortId?: string;
  metadata: Tags;
}

/** The whole tree. A load balancer needs its port, and the subnets in which it reaches members. */
export interface LoadBalancerSpec {
  name: string;
  flavorId: string;
  /** Has the virtual address. */
  portId: string;
  enabled: boolean;
  /** How members with an `instanceId` are reached: in their own network, or routed. */
  connectivity: 'L2' | 'L3';
  failovers: number;
  logging?: { destinationRegionId: number; topic: string };
  /** By listener id. */
  listeners: Record<string, ListenerSpec>;
  /** By pool id. Pools that no listener and no policy names get no traffic. */
  pools: Record<string, PoolSpec>;
  metadata: Tags;
}

/** Timeouts are in milliseconds; the backend chooses those that are left out. */
interface TimeoutsSpec {
  clientData?: number;
  memberConnect?: number;
  memberData?: number;
}

export interface ListenerSpec {
  name: string;
  protocol: 'HTTP' | 'HTTPS' | 'PROMETHEUS' | 'TCP' | 'TERMINATED_HTTPS' | 'UDP';
  port: number;
  enabled: boolean;
  defaultPoolId?: string;
  connectionLimit: number;
  /** Whether requests get the headers X-Forwarded-For, -Port and -Proto. */
  forwardedHeaders: boolean;
  /** Who may connect; everybody if absent. */
  allowedCidrs?: string[];
  timeouts: TimeoutsSpec;
  /** Ids of the secrets with certificates: the default one, and those for further names. */
  certificates?: { secretId: string; furtherIds: string[] };
  /** Hashes of passwords, by user name. */
  users: Record<string, string>;
  /** By policy id. */
  policies: Record<string, L7PolicySpec>;
}

export interface L7PolicySpec {
  name: string;
  /** Policies of a listener are tried in this order, and by id where it is the same. */
  position: number;
  action:
    | { kind: 'reject' }
    | { kind: 'redirect_to_pool'; poolId: string }
    | { kind: 'redirect_to_url' | 'redirect_prefix'; target: string; httpCode: number };
  /** By rule id. All of them have to match; a policy without rules never does. */
  rules: Record<string, { type: string; compare: string; key?: string; value: string; invert: boolean }>;
}

export interface PoolSpec {
  name: string;
  protocol: 'HTTP' | 'HTTPS' | 'PROXY' | 'PROXYV2' | 'TCP' | 'UDP';
  algorithm: 'LEAST_CONNECTIONS' | 'ROUND_ROBIN' | 'SOURCE_IP';
  enabled: boolean;
  persistence?: {
    type: 'APP_COOKIE' | 'HTTP_COOKIE' | 'SOURCE_IP';
    cookieName?: string;
    granularity?: string;
    timeout?: number;
  };
  timeouts: TimeoutsSpec;
  /** Ids of secrets: the certificate for members, and what their certificates are checked against. */
  tls?: { secretId?: string; authoritiesId?: string; revokedId?: string };
  monitor?: MonitorSpec;
  /** By member id. */
  members: Record<string, MemberSpec>;
}

/** `delay` and `timeout` are in seconds. */
export interface MonitorSpec {
  type: 'HTTP' | 'HTTPS' | 'K8S' | 'PING' | 'TCP' | 'TLS-HELLO' | 'UDP-CONNECT';
  enabled: boolean;
  delay: number;
  timeout: number;
  retries: number;
  retriesDown: number;
  http?: { method?: string; path?: string; codes?: string; version?: string; domain?: string };
}

export interface MemberSpec {
  address: string;
  port: number;
  subnetId?: string;
  instanceId?: string;
  weight: number;
  backup: boolean;
  enabled: boolean;
  /** What the monitor asks, where that is not the member itself. */
  monitorAddress?: string;
  monitorPort?: number;
}

/** The health of each member by its id, as the monitor of its pool sees it. */
export interface LoadBalancerObservation {
  members: Record<string, MemberHealth>;
}
export type MemberHealth = 'DRAINING' | 'ERROR' | 'ONLINE';

/** How traffic to a public address is filtered. */
export interface DdosProfileSpec {
  address: string;
  /** A template of the catalogue. */
  templateId: number;
  /** By field of the template; a null value stands for the default. */
  fields: Record<string, { value: unknown }>;
  active: boolean;
  /** Whether traffic is routed to the protection by BGP. */
  bgp: boolean;
}

export interface VolumeSpec {
  name: string;
  sizeGib: number;
  volumeType: VolumeType;
  /** What the volume is filled with when it is made. */
  source?: { imageId: string } | { snapshotId: string };
  metadata: Tags;
  /** How many times the volume was reverted to a snapshot, and to which one last. */
  reverts?: { times: number; snapshotId: string };
}

export interface SnapshotSpec {
  name: string;
  volumeId: string;
  metadata: Tags;
}

export interface ImageSpec {
  name: string;
  volumeId?: string;
  /**
   * Where it is downloaded from instead, without what may be secret in an address: `Call.secret('url')` returns all of
   * it. A client chose it, and only its form is checked: who downloads it sees to it that neither its host nor a
   * redirection leads into the infrastructure's own network, and limits size and time.
   */
  sourceUrl?: string;
  /** Volumes may share its data: it isn't removed before them. */
  copyOnWrite?: true;
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
  /** The subnet through which a standard share is reached. */
  subnet?: { networkId: string; subnetId: string };
  /** Who may access the share, by rule id. */
  access: Record<string, { to: string; level: 'ro' | 'rw' }>;
  /** Only for VAST shares. Names follow the rules of every client (LCD), or those of their own protocol (NPL). */
  settings?: { rootSquash: boolean; pathLength?: 'LCD' | 'NPL'; allowedCharacters?: 'LCD' | 'NPL' };
  metadata: Tags;
}

/** Something that listeners use, such as a certificate with its key. It never changes. */
export interface SecretSpec {
  name: string;
  type: 'certificate' | 'opaque' | 'passphrase' | 'private' | 'public' | 'symmetric';
  /**
   * Which secrets it has; `Call.secret` returns them. A TLS bundle has `certificate`, `certificate_chain` (which may
   * be empty) and `private_key` in PEM. Any other secret has `payload` in base64: for TLS, a PKCS #12 file.
   */
  secrets: Record<string, true>;
  /** In RFC 3339. */
  expiresAt?: string;
}

/** Machines that run on one host, each on another one, or on as many as there are. It never changes. */
export interface ServerGroupSpec {
  name: string;
  policy: 'affinity' | 'anti-affinity' | 'soft-anti-affinity';
}

export interface MachineSpec {
  name: string;
  flavorId: string;
  /** By volume id. */
  disks: Record<string, { device: string; bootIndex?: number; tag?: string; deleteOnTermination: boolean }>;
  /** By port id, with the position among the machine's interfaces. */
  ports: Record<string, { position: number }>;
  /** A machine that is there already has to move, if the group wants it elsewhere. */
  serverGroupId?: string;
  publicKey?: string;
  /** Which of the secrets `user_data` and `password` the machine has; `Call.secret` returns them. */
  secrets: Record<string, true>;
  username?: string;
  power: 'off' | 'on' | 'suspended';
  /** How many reboots were requested. */
  reboots: { soft: number; hard: number };
  metadata: Tags;
}

/**
 * A machine that stopped or crashed by itself counts as settled and stays as it is, until `power` or `reboots` of the spec
 * change. `power` is left out where the backend can't tell.
 */
export interface MachineObservation {
  power?: MachinePower;
}
/** `host_gone`: nobody knows whether it runs, since its host doesn't answer. */
export type MachinePower = 'crashed' | 'host_gone' | 'running' | 'stopped';

export interface ClusterSpec {
  name: string;
  /**
   * With the leading `v`. After a failed upgrade the former version is wanted again. But Kubernetes can't be
   * downgraded, and runs well with nodes that are older than their control plane: a backend that is on the
   * way to the newer version stays where it is and reports the cluster as settled. If the same upgrade is
   * wanted again, it continues from there.
   */
  version: string;
  /** For the nodes' user. */
  publicKey?: string;
  /** What was asked for; the nodes' ports say where the nodes really are. */
  network: { networkId?: string; subnetId?: string; ipv6: boolean };
  pods: { ipv4: string; ipv6?: string };
  services: { ipv4: string; ipv6?: string };
  /** Whether the cluster's pods may use VAST file shares. */
  vastShares: boolean;
  /** The six groups of settings as in the API, without those that are null there. */
  configuration: Record<string, unknown>;
  /** Public keys of the Slurm users, by the ids that the configuration names. */
  slurmPublicKeys: Record<string, string>;
  /** By pool name. */
  pools: Record<string, ClusterPoolSpec>;
}

export interface ClusterPoolSpec {
  id: string;
  flavorId: string;
  /** Absent for bare metal, which has its own disks. */
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
  /** Ids of the security groups of the pool's nodes, including the one that all nodes of the cluster share. */
  securityGroups: Record<string, true>;
  /** By node id, which is also the id of the node's machine. */
  nodes: Record<string, ClusterNodeSpec>;
}

/** A node's machine, ports and disk belong to the cluster: there are no other wants for them. */
export interface ClusterNodeSpec {
  name: string;
  /** A disk that has snapshots outlives its node, and is wanted as a volume from then on. */
  bootVolumeId?: string;
  /** By port id, with the position among the machine's interfaces. */
  ports: Record<string, PortSpec & { position: number }>;
}

export interface ClusterObservation {
  /** The URL of the cluster's API server. */
  endpoint: string;
  /** PEM, like the fields below. The client certificate is for an administrator, and the CA signed it. */
  caCertificate: string;
  clientCertificate: string;
  secret?: { caKey: string; clientKey: string };
  /** The cluster keeps its keys, and renews them: `credentialsOf` is asked each time, and nothing is stored. */
  keepsKeys?: true;
}
