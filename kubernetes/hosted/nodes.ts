import type { ClusterPoolSpec, ClusterSpec } from '../../src/backends/contract/specs.ts';
import type { Client, LiveObject } from '../applying/client.ts';
import { explained, unlessGone } from '../applying/refusals.ts';
import { includes } from '../includes.ts';

/** On every node of ours, with the name of its pool. */
const POOL = 'tradewind/pool';
const NODE_ID = 'tradewind/node-id';
const NODE = { apiVersion: 'v1', kind: 'Node' } as const;
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

/**
 * Brings the nodes about. Returns how many are not yet as wanted.
 * @throws Refused for what the API server will not take
 */
export async function convergeNodes(client: Client, wanted: readonly Node[]): Promise<number> {
  const there = (await client.list(NODE, { labelSelector: POOL })) as Found[];
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  const stray = there.filter(({ metadata }) => !names.has(metadata.name));
  for (const node of stray) {
    await client.remove({ ...NODE, name: node.metadata.name }).catch(unlessGone({ ...NODE, ...node }));
  }
  const found = new Map(there.map((node) => [node.metadata.name, node]));
  let unfinished = stray.length;
  for (const node of wanted) {
    const former = found.get(node.metadata.name);
    if (former && isReady(former) && isLike(former, node)) continue;
    unfinished += 1;
    await apply(client, node, former).catch((error: unknown) => {
      throw explained(error, { ...NODE, ...node });
    });
  }
  return unfinished;
}

type Found = LiveObject & {
  spec: Partial<Node['spec']>;
  status?: Partial<Node['status']> & { conditions?: { type: string; status: string }[] };
};

async function apply(client: Client, { metadata, spec, status }: Node, former: Found | undefined) {
  await client.apply({ ...NODE, metadata, spec }, { force: true });
  if (former?.status && includes(former.status, status)) return;
  // A node may have several addresses of a type, of which server-side apply knows only one.
  await client.changeStatus({ ...NODE, name: metadata.name }, status);
}

const isReady = ({ status }: Found): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;

/** Labels and taints of Kubernetes itself come and go. */
function isLike({ metadata, spec, status }: Found, wanted: Node): boolean {
  const taints = wanted.spec.taints ?? [];
  const own = (spec.taints ?? []).filter(
    ({ key }) => !key.startsWith('node.kubernetes.io/') || taints.some((taint) => taint.key === key),
  );
  return includes(metadata, wanted.metadata) && includes(status ?? {}, wanted.status) && includes(own, taints);
}
