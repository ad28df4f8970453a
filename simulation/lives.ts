import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { makeAuthority } from '../src/backends/certificates/authority.ts';
import { type Kind, Refused } from '../src/backends/contract/backend.ts';
import type {
  ClusterObservation,
  ClusterSpec,
  LoadBalancerSpec,
  MachineObservation,
  MachineSpec,
  Observations,
  Specs,
} from '../src/backends/contract/specs.ts';
import { type Health, healthOf } from './health.ts';
import type { Fate } from './objects.ts';

/** The certificates and keys for connecting to a cluster: certificates as PEM, keys as PKCS #8. */
export type Certificates = Required<Omit<ClusterObservation, 'endpoint' | 'keepsKeys'>>;

const YEARS_VALID = 2;

/** Makes a certificate authority, and a client certificate that it signed for the cluster's administrator. */
export async function makeCertificates(): Promise<Certificates> {
  const ca = await makeAuthority('CN=kubernetes', YEARS_VALID);
  // The group that may do everything in Kubernetes (its RBAC defaults).
  const client = await ca.forClient('O=system:masters, CN=kubernetes-admin');
  return {
    caCertificate: ca.certificate,
    clientCertificate: client.certificate,
    secret: { caKey: ca.key, clientKey: client.key },
  };
}

/** One state on the way, and how long it lasts at speed 1. */
export interface Phase {
  state: string;
  ms: number;
}

/** How things of a kind are made, changed and removed. */
export interface Life<K extends Kind> {
  making(spec: Specs[K]): Phase[];
  changing(former: Specs[K], spec: Specs[K]): Phase[];
  removing: Phase;
  /** Makes data that each thing generates once and reports from then on. */
  makes?(): Promise<object>;
  observed(id: string, made: object, spec: Specs[K], health: Health): Observations[K];
  /** @throws Refused for specs that stand for a failure */
  refuse?(spec: Specs[K]): void;
  /** Whether a change ends what the thing did by itself. @throws Refused if that is in the way of the change */
  rights?(former: Specs[K], spec: Specs[K], fate: Fate): boolean;
}

/** A cluster with this logging topic is always refused, so that clients can see what a failed task looks like. */
export const FAILING_TOPIC = 'simulate-failure';

const nothing = () => ({});
const CHANGING_NETWORK: Phase[] = [{ state: 'configuring', ms: 300 }];
/** The parts of a network all get ready at the same pace. */
const wired = {
  making: () => CHANGING_NETWORK,
  changing: () => CHANGING_NETWORK,
  removing: { state: 'deleting', ms: 300 },
  observed: nothing,
};

const disk = (state: string, ms: number, changeMs: number) => ({
  making: () => [{ state, ms }],
  changing: () => [{ state: 'changing', ms: changeMs }],
  removing: { state: 'deleting', ms: 100 },
  observed: nothing,
});

/** Of every image from an address. Official clients wait until an image has a size. */
const DOWNLOADED_BYTES = 2 ** 30;

export const LIVES: { [K in Kind]: Life<K> } = {
  network: wired,
  subnet: wired,
  router: wired,
  port: wired,
  floating_ip: wired,
  security_group: {
    making: () => [],
    changing: () => [],
    removing: { state: 'deleting', ms: 0 },
    observed: nothing,
  },
  load_balancer: {
    making: () => [
      { state: 'creating', ms: 300 },
      { state: 'configuring', ms: 200 },
    ],
    changing: (former, spec) => [loadBalancerChange(former, spec)],
    removing: { state: 'deleting', ms: 300 },
    observed: (_id, _made, spec, health) => ({ members: healthOf(spec, health) }),
  },
  ddos_profile: wired,
  secret: disk('storing', 100, 100),
  volume: disk('creating', 200, 150),
  snapshot: disk('creating', 200, 0),
  image: {
    ...disk('saving', 300, 0),
    // Nothing is downloaded.
    observed: (_id, _made, { sourceUrl }) => (sourceUrl === undefined ? {} : { sizeBytes: DOWNLOADED_BYTES }),
  },
  file_share: {
    making: () => [{ state: 'creating', ms: 500 }],
    changing: () => [{ state: 'changing', ms: 200 }],
    removing: { state: 'deleting', ms: 300 },
    observed: (id) => ({ connectionPoint: `${testAddressOf(id)}:/shares/${id}` }),
  },
  server_group: {
    making: () => [],
    changing: () => [],
    removing: { state: 'deleting', ms: 50 },
    observed: nothing,
  },
  machine: {
    // Nova's states, in its order.
    making: () => [
      { state: 'scheduling', ms: 50 },
      { state: 'block_device_mapping', ms: 150 },
      { state: 'networking', ms: 100 },
      { state: 'spawning', ms: 200 },
    ],
    changing: (former, spec) => [machineChange(former, spec)],
    removing: { state: 'deleting', ms: 200 },
    observed: (_id, { fate }: { fate?: Fate }, spec) => powerOf(spec, fate),
    rights: machineRighted,
  },
  cluster: {
    making: (spec) => [
      { state: 'creating the control plane', ms: 900 },
      { state: 'creating pools', ms: 100 * Object.keys(spec.pools).length },
      { state: 'configuring', ms: 40 * Object.keys(spec.configuration).length },
      { state: 'starting nodes', ms: 600 },
    ],
    changing: clusterChange,
    removing: { state: 'deleting', ms: 500 },
    makes: makeCertificates,
    // A reserved name that never resolves (RFC 6761): simulated clusters have no API server.
    observed: (id, made) => ({ endpoint: `https://${id}.k8s.invalid:6443`, ...(made as Certificates) }),
    refuse(spec) {
      const logging = spec.configuration.logging as { topic_name?: string } | undefined;
      if (logging?.topic_name !== FAILING_TOPIC) return;
      throw new Refused(
        `Logging could not be set up: the simulated log service refused topic ${FAILING_TOPIC}, which stands for a failure`,
      );
    },
  },
};

function machineChange(former: MachineSpec, spec: MachineSpec): Phase {
  if (former.flavorId !== spec.flavorId) return { state: 'resizing', ms: 500 };
  if (former.reboots.soft !== spec.reboots.soft || former.reboots.hard !== spec.reboots.hard) {
    return { state: 'rebooting', ms: 400 };
  }
  if (former.power !== spec.power) return { state: 'powering', ms: 300 };
  return { state: 'changing', ms: 200 };
}

function powerOf({ power }: MachineSpec, fate?: Fate): MachineObservation {
  if (fate === 'host_gone') return { power: fate };
  if (power === 'suspended') return {};
  return { power: power === 'off' ? 'stopped' : (fate ?? 'running') };
}

/** A machine does as it is told again when it is switched on, off or rebooted, but not without its host. */
function machineRighted(former: MachineSpec, spec: MachineSpec, fate: Fate): boolean {
  const isSwitched = former.power !== spec.power || !isDeepStrictEqual(former.reboots, spec.reboots);
  if (isSwitched && fate === 'host_gone') throw new Refused('The host of the machine does not answer');
  return isSwitched;
}

function loadBalancerChange(former: LoadBalancerSpec, spec: LoadBalancerSpec): Phase {
  if (former.flavorId !== spec.flavorId) return { state: 'resizing', ms: 500 };
  if (former.failovers !== spec.failovers) return { state: 'failing over', ms: 500 };
  return { state: 'configuring', ms: 150 };
}

function clusterChange(former: ClusterSpec, spec: ClusterSpec): Phase[] {
  const upgraded = former.version !== spec.version;
  const names = new Set([...Object.keys(former.pools), ...Object.keys(spec.pools)]);
  const touched = [...names].filter((name) => JSON.stringify(former.pools[name]) !== JSON.stringify(spec.pools[name]));
  const groups = Object.keys(spec.configuration).filter(
    (name) => JSON.stringify(former.configuration[name]) !== JSON.stringify(spec.configuration[name]),
  );
  return [
    { state: 'preparing', ms: 100 },
    ...(upgraded ? [{ state: 'upgrading the control plane', ms: 400 }] : []),
    { state: 'changing pools', ms: 200 * touched.length + (upgraded ? 100 * names.size : 0) },
    { state: 'configuring', ms: 40 * groups.length },
    { state: 'waiting until all is ready', ms: 160 },
  ];
}

/** Returns an address of 198.18.0.0/15, which RFC 2544 reserves for tests, so that nothing real is ever mounted. */
function testAddressOf(id: string): string {
  const [second = 0, third = 0, fourth = 0] = createHash('sha256').update(id).digest();
  return `198.${18 + (second % 2)}.${third}.${1 + (fourth % 254)}`;
}
