import { Refused } from '../contract/backend.ts';
import type { ClusterPoolSpec, ClusterSpec } from '../contract/specs.ts';
import type { Answer, ClusterApi } from './api.ts';

/** On every node of ours, with the name of its pool. */
const POOL = 'tradewind/pool';
const NODE_ID = 'tradewind/node-id';
const NODES = '/api/v1/nodes';
/** What kubelet allows by default. */
const PODS = '110';

/** What a flavor gives to a node. */
export interface FlavorSize {
  vcpus: number;
  ramMib: number;
}

interface Taint {
  key: string;
  value?: string;
  effect: string;
}

interface Node {
  metadata: { name: string; labels: Record<string, string>; annotations: Record<string, string> };
  spec: { providerID: string; taints?: Taint[] };
  status: {
    capacity: Record<string, string>;
    allocatable: Record<string, string>;
    addresses: { type: string; address: string }[];
    nodeInfo: Record<string, string>;
  };
}

/** Returns the nodes that the pools mean. They are simulated: kwok plays their kubelets. */
export function nodesOf(
  spec: ClusterSpec,
  cluster: { regionId: number; version: string },
  sizeOf: (flavorId: string) => FlavorSize | undefined,
): Node[] {
  return Object.entries(spec.pools).flatMap(([pool, poolSpec]) =>
    Object.entries(poolSpec.nodes).map(([id, { name, ports }]): Node => {
      const addresses = Object.values(ports)
        .toSorted((a, b) => a.position - b.position)
        .flatMap((port) => Object.keys(port.addresses ?? {}));
      const resources = resourcesOf(sizeOf(poolSpec.flavorId));
      return {
        metadata: {
          name,
          labels: {
            ...poolSpec.labels,
            [POOL]: pool,
            'kubernetes.io/hostname': name,
            'kubernetes.io/os': 'linux',
            'kubernetes.io/arch': 'amd64',
            'node.kubernetes.io/instance-type': poolSpec.flavorId,
            'topology.kubernetes.io/region': String(cluster.regionId),
          },
          annotations: { 'kwok.x-k8s.io/node': 'fake', [NODE_ID]: id },
        },
        spec: { providerID: `tradewind://${cluster.regionId}/${id}`, taints: taintsOf(poolSpec) },
        status: {
          capacity: resources,
          allocatable: resources,
          addresses: [
            { type: 'Hostname', address: name },
            ...addresses.map((address) => ({ type: 'InternalIP', address })),
          ],
          nodeInfo: {
            architecture: 'amd64',
            bootID: '',
            containerRuntimeVersion: 'kwok',
            kernelVersion: 'kwok',
            kubeProxyVersion: '',
            kubeletVersion: cluster.version,
            machineID: '',
            operatingSystem: 'linux',
            osImage: 'simulated by kwok',
            systemUUID: '',
          },
        },
      };
    }),
  );
}

/** A flavor that has left the catalogue keeps its nodes, with a size that holds anything. */
function resourcesOf(size: FlavorSize | undefined): Record<string, string> {
  const { vcpus, ramMib } = size ?? { vcpus: 64, ramMib: 262_144 };
  return { cpu: String(vcpus), memory: quantityOf(ramMib), pods: PODS };
}

/** In the form in which the API server gives it back: with the largest unit of which it is a whole number. */
function quantityOf(mebibytes: number): string {
  const [unit, ...larger] = ['Mi', 'Gi', 'Ti'];
  let [value, suffix] = [mebibytes, unit];
  for (const next of larger) {
    if (value % 1024 !== 0) break;
    [value, suffix] = [value / 1024, next];
  }
  return `${value}${suffix}`;
}

/** Each value has the form `value:Effect`. */
function taintsOf({ taints }: ClusterPoolSpec): Taint[] {
  return Object.entries(taints).map(([key, text]) => {
    const at = text.lastIndexOf(':');
    const value = text.slice(0, at);
    return { key, ...(value !== '' && { value }), effect: text.slice(at + 1) };
  });
}

/** Brings the nodes about. Returns how many are not yet as wanted. */
export async function convergeNodes(api: ClusterApi, wanted: readonly Node[]): Promise<number> {
  const { items } = accepted(await api.get(`${NODES}?labelSelector=${POOL}`)).body as { items: Found[] };
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  const stray = items.filter(({ metadata }) => !names.has(metadata.name));
  for (const { metadata } of stray) accepted(await api.remove(`${NODES}/${metadata.name}`), 404);
  const found = new Map(items.map((node) => [node.metadata.name, node]));
  let unfinished = stray.length;
  for (const node of wanted) {
    const there = found.get(node.metadata.name);
    if (there && isReady(there) && isLike(there, node)) continue;
    unfinished += 1;
    await apply(api, node, there);
  }
  return unfinished;
}

interface Found {
  metadata: Partial<Node['metadata']> & { name: string };
  spec: Partial<Node['spec']>;
  status?: Partial<Node['status']> & { conditions?: { type: string; status: string }[] };
}

async function apply(api: ClusterApi, { metadata, spec, status }: Node, there: Found | undefined) {
  const head = { apiVersion: 'v1', kind: 'Node' };
  const where = `${NODES}/${metadata.name}`;
  accepted(await api.apply(where, { ...head, metadata, spec }));
  if (there?.status && isPart(there.status, status)) return;
  // A node may have several addresses of a type, of which server-side apply knows only one.
  accepted(await api.merge(`${where}/status`, { status }));
}

const isReady = ({ status }: Found): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;

/** Labels and taints of Kubernetes itself come and go. */
function isLike({ metadata, spec, status }: Found, wanted: Node): boolean {
  const taints = wanted.spec.taints ?? [];
  const own = (spec.taints ?? []).filter(
    ({ key }) => !key.startsWith('node.kubernetes.io/') || taints.some((taint) => taint.key === key),
  );
  return (
    isPart(metadata, wanted.metadata) &&
    isPart(status ?? {}, wanted.status) &&
    own.length === taints.length &&
    isPart(own, taints)
  );
}

/** Whether everything in `part` is in `whole` as well. */
function isPart(whole: unknown, part: unknown): boolean {
  if (part === null || typeof part !== 'object') return whole === part;
  if (whole === null || typeof whole !== 'object') return false;
  return Object.entries(part).every(([name, value]) =>
    isPart((whole as Record<string, unknown>)[name], value),
  );
}

/** @throws Refused for what the API server will not take */
function accepted(answer: Answer, ...also: number[]): Answer {
  if (answer.status < 300 || also.includes(answer.status)) return answer;
  throw new Refused(`The cluster's API refuses a node: ${answer.body?.message ?? answer.status}`);
}
