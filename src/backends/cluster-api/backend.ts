import {
  type Backend,
  type Call,
  type Convergence,
  type Kind,
  type Ref,
  Refused,
  Unsupported,
} from '../contract/backend.ts';
import type { ClusterObservation, ClusterSpec, Observations } from '../contract/specs.ts';
import { applyRendering } from '../kubernetes/applying/apply.ts';
import {
  ApiError,
  type Client,
  type ClusterAccess,
  createClient,
  type LiveObject,
  nameOf,
} from '../kubernetes/applying/client.ts';
import { accessOf } from '../kubernetes/applying/kubeconfig.ts';
import { unlessGone } from '../kubernetes/applying/refusals.ts';
import type { Platform } from '../kubernetes/platform.ts';
import { clusterRendering } from '../kubernetes/rendering/cluster.ts';
import type { KubernetesObject } from '../kubernetes/rendering/objects.ts';
import { renderingProblems } from '../kubernetes/rendering/problems.ts';
import { isLater } from '../kubernetes/versions.ts';
import { keep } from './keeping.ts';
import { labelNodes, nameMachines } from './nodes.ts';
import { clusterWaitsFor, machinesWaitFor, statusOf, withReason } from './progress.ts';
import {
  clusterName,
  type Infrastructure,
  kindOf,
  LABELS,
  NODES,
  type Parts,
  partsOf,
  poolName,
  sizesOf,
} from './rendering.ts';
import { watchClusters } from './watching.ts';

export interface ClusterApiOptions {
  /** The backend's name, by which it knows its clusters in a management cluster that it shares. */
  name: string;
  access: ClusterAccess;
  infrastructure: Infrastructure;
  platform: Platform;
  /** Versions of Kubernetes that the operator has images of; without, all that the catalogue has. */
  versions?: readonly string[];
}

const ASK_AGAIN_MS = 1_000;

/**
 * Clusters that Cluster API makes, on the machines of any infrastructure that it has a provider for. What is wanted
 * becomes objects of a management cluster; controllers there do the rest, and their conditions tell how far they are.
 */
export function createClusterApiBackend(options: ClusterApiOptions): Backend {
  const { name: backend, access, infrastructure, platform, versions } = options;
  const ours = `${LABELS.backend}=${backend}`;
  const namespaceOf = ({ projectId }: Ref): string => `${infrastructure.namespacePrefix}${projectId}`;

  async function withClient<T>(signal: AbortSignal, use: (client: Client) => Promise<T>): Promise<T> {
    const client = createClient(access, signal);
    try {
      return await use(client);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      client.close();
    }
  }

  async function find(client: Client, { id }: Pick<Ref, 'id'>): Promise<LiveObject | undefined> {
    const labelSelector = `${ours},${LABELS.cluster}=${id}`;
    const [found] = await client.list(kindOf('Cluster'), { labelSelector }).catch(withoutClusterApi);
    return found;
  }

  async function present(
    client: Client,
    ref: Ref,
    given: ClusterSpec,
    call: Call,
  ): Promise<Convergence<ClusterObservation>> {
    const found = await find(client, ref);
    if (found?.metadata.deletionTimestamp !== undefined) {
      return progressing(withReason('waiting until the former cluster is gone', found));
    }
    if (!found && call.wasThere) throw new Refused('the cluster has disappeared with everything it held');
    const spec = await withItsVersion(client, ref, given);
    const parts = partsOf(spec, { ...ref, backend }, infrastructure, platform);
    await keep(client, parts.namespace, call);
    for (const object of parts.objects) await keep(client, object, call);
    const controlPlane = await keep(client, parts.controlPlane, call);
    const upgraded =
      machinesWaitFor('', controlPlane) === undefined && statusOf(controlPlane).version === spec.version;
    const pools = await convergePools(client, parts, spec, upgraded, call);
    const former = await removeFormerPools(client, ref, spec);
    const cluster = found ?? (await find(client, ref));
    if (!cluster) return progressing('making its objects');
    const doing =
      clusterWaitsFor(cluster) ??
      machinesWaitFor('control plane', controlPlane) ??
      (upgraded ? undefined : 'control plane: waiting for its version') ??
      pools ??
      former;
    return doing === undefined ? inside(client, cluster, spec, call) : progressing(doing);
  }

  /** Returns the spec with the version that the control plane has to get: never an older one. */
  async function withItsVersion(client: Client, ref: Ref, spec: ClusterSpec): Promise<ClusterSpec> {
    const name = { name: clusterName(ref), namespace: namespaceOf(ref) };
    const former = await client.get({ ...kindOf('KubeadmControlPlane'), ...name });
    const { version = spec.version } = (former?.spec ?? {}) as { version?: string };
    return isLater(version, spec.version) ? { ...spec, version } : spec;
  }

  /** Returns what the pools wait for. */
  async function convergePools(
    client: Client,
    { pools, namespace }: Parts,
    spec: ClusterSpec,
    upgraded: boolean,
    call: Call,
  ): Promise<string | undefined> {
    const waiting: string[] = [];
    for (const [title, { templates, deployment }] of Object.entries(pools)) {
      const pool = spec.pools[title];
      if (pool) await nameMachines(client, namespace.metadata.name, pool);
      for (const object of templates) await keep(client, object, call);
      const live = await applyPool(client, deployment, { version: spec.version, upgraded }, call);
      const doing = machinesWaitFor(`pool ${title}`, live);
      if (doing !== undefined) waiting.push(doing);
    }
    return waiting[0];
  }

  /** Pools follow the control plane, and are never newer. The autoscaler's count stays while ours is the same. */
  async function applyPool(
    client: Client,
    deployment: KubernetesObject,
    controlPlane: { version: string; upgraded: boolean },
    call: Call,
  ): Promise<LiveObject> {
    const former = await client.get(nameOf(deployment));
    const spec = deployment.spec as { template: { spec: object } };
    const had = former?.spec as { replicas?: number; template: { spec: { version?: string } } } | undefined;
    const version = controlPlane.upgraded ? controlPlane.version : had?.template.spec.version;
    return keep(
      client,
      {
        ...deployment,
        spec: {
          ...spec,
          replicas: replicasOf(deployment, former),
          template: {
            ...spec.template,
            spec: { ...spec.template.spec, version: version ?? controlPlane.version },
          },
        },
      },
      call,
    );
  }

  async function removeFormerPools(client: Client, ref: Ref, spec: ClusterSpec) {
    const of = { ...kindOf('MachineDeployment'), namespace: namespaceOf(ref) };
    const names = new Set(Object.values(spec.pools).map(poolName));
    const there = await client.list(of, { labelSelector: `${ours},${LABELS.cluster}=${ref.id}` });
    const former = there.filter(({ metadata }) => !names.has(metadata.name));
    for (const one of former) await remove(client, { ...of, ...one });
    const [first] = former;
    return first && withReason(`removing pool ${first.metadata.labels?.[LABELS.pool]}`, first);
  }

  async function inside(
    client: Client,
    cluster: LiveObject,
    spec: ClusterSpec,
    call: Call,
  ): Promise<Convergence<ClusterObservation>> {
    const seen = await credentialsIn(client, cluster);
    if (!seen) return progressing('waiting for its kubeconfig');
    const { namespace = '' } = cluster.metadata;
    const replacing = await replaceMachines(client, namespace, spec);
    if (replacing !== undefined) return progressing(replacing);
    const into = { ...seen, server: seen.endpoint, clientKey: seen.secret.clientKey };
    const workload = createClient(into, call.signal);
    try {
      await labelNodes(client, workload, namespace, spec);
    } finally {
      workload.close();
    }
    const applied = await applyRendering(into, clusterRendering(spec, platform), call);
    return applied ?? { state: 'settled', observed: withoutKeys(seen) };
  }

  /** The pools have as many machines as they should. One whose node is still not wanted makes place for another. */
  async function replaceMachines(client: Client, namespace: string, spec: ClusterSpec) {
    const left: LiveObject[] = [];
    for (const pool of Object.values(spec.pools)) {
      const { unwanted, going } = await nameMachines(client, namespace, pool);
      for (const machine of unwanted) await remove(client, { ...kindOf('Machine'), ...machine });
      left.push(...unwanted, ...going);
    }
    return left[0] && withReason(`waiting until machine ${left[0].metadata.name} is gone`, left[0]);
  }

  async function absent(client: Client, ref: Ref): Promise<Convergence<null>> {
    const cluster = await find(client, ref);
    if (cluster) {
      await remove(client, { ...kindOf('Cluster'), ...cluster });
      return progressing(withReason('waiting until its machines are gone', cluster));
    }
    // What was made before the cluster itself, and templates, which Cluster API leaves.
    const { cluster: own, controlPlane, workers } = infrastructure;
    const kinds = [
      kindOf('MachineDeployment'),
      kindOf('KubeadmControlPlane'),
      own,
      controlPlane.machine,
      workers.machine,
      kindOf('KubeadmConfigTemplate'),
    ].map(({ apiVersion, kind }) => ({ apiVersion, kind }));
    let left = 0;
    for (const of of kinds) {
      const rest = await client
        .list(of, { labelSelector: `${ours},${LABELS.cluster}=${ref.id}` })
        .catch(unlessUnknown);
      for (const one of rest) await remove(client, { ...of, ...one });
      left += rest.length;
    }
    return left > 0 ? progressing('removing its templates') : { state: 'settled', observed: null };
  }

  return {
    problems(kind, spec) {
      if (kind !== 'cluster') return [];
      const wanted = spec as ClusterSpec;
      const known = versions?.includes(wanted.version) ?? true;
      const message = `There are no images of ${wanted.version} here. Choose one of: ${versions?.join(', ')}.`;
      return [...renderingProblems(wanted, platform), ...(known ? [] : [{ field: 'version', message }])];
    },
    async converge(ref, spec, call) {
      call.signal.throwIfAborted();
      if (ref.kind !== 'cluster') throw new Unsupported(`It has clusters, and no ${ref.kind}`);
      const answer = await withClient<unknown>(call.signal, (client) =>
        spec === null ? absent(client, ref) : present(client, ref, spec as ClusterSpec, call),
      );
      return answer as Convergence<Observations[typeof ref.kind] | null>;
    },
    observe: (ref, { signal }) =>
      withClient(signal, async (client) => {
        const cluster = await find(client, ref);
        if (!cluster || cluster.metadata.deletionTimestamp !== undefined) return null;
        const seen = await credentialsIn(client, cluster);
        return (seen ? withoutKeys(seen) : null) as Observations[Kind] as never;
      }),
    credentialsOf: (ref, { signal }) =>
      withClient(signal, async (client) => {
        const cluster = await find(client, ref);
        return (cluster && (await credentialsIn(client, cluster))) ?? null;
      }),
    async *list({ signal }) {
      const found = await withClient(signal, (client) =>
        client.list(kindOf('Cluster'), { labelSelector: ours }).catch(withoutClusterApi),
      );
      for (const { metadata } of found) {
        const { [LABELS.cluster]: id, [LABELS.region]: regionId } = metadata.labels ?? {};
        if (id !== undefined) yield { kind: 'cluster', id, regionId: Number(regionId), handle: null };
      }
    },
    async *watch({ signal }) {
      const ending = new AbortController();
      const until = AbortSignal.any([signal, ending.signal]);
      const client = createClient(access, until);
      try {
        for await (const id of watchClusters(client, ours, until)) yield { kind: 'cluster', id };
      } finally {
        ending.abort();
        client.close();
      }
    },
    ...(versions && { clusterVersions: () => versions }),
    health: ({ signal }) =>
      withClient(signal, async (client) => {
        await client.list(kindOf('Cluster'), { limit: '1' }).catch(withoutClusterApi);
        return undefined;
      }),
  };
}

/** How many machines a pool gets: ours when it changed, and otherwise what is there, if the pool allows it. */
function replicasOf({ metadata }: KubernetesObject, former: LiveObject | undefined): number {
  const { annotations = {} } = metadata;
  const wanted = Number(annotations[NODES]);
  if (!former || former.metadata.annotations?.[NODES] !== annotations[NODES]) return wanted;
  const { replicas = wanted } = former.spec as { replicas?: number };
  const { smallest, largest } = sizesOf(annotations);
  return replicas >= smallest && replicas <= largest ? replicas : wanted;
}

type Credentials = ClusterObservation & Required<Pick<ClusterObservation, 'secret'>>;

function withoutKeys({ secret: _, ...observed }: Credentials): ClusterObservation {
  return { ...observed, keepsKeys: true };
}

/** Reads what the cluster's own secrets say: Cluster API renews them. */
async function credentialsIn(client: Client, { metadata }: LiveObject): Promise<Credentials | undefined> {
  const { name, namespace = '' } = metadata;
  const secret = async (purpose: string) => {
    const found = await client.get({
      apiVersion: 'v1',
      kind: 'Secret',
      name: `${name}-${purpose}`,
      namespace,
    });
    const data = (found?.data ?? {}) as Record<string, string>;
    return (key: string) =>
      data[key] === undefined ? undefined : Buffer.from(data[key], 'base64').toString();
  };
  const [kubeconfig, authority] = [(await secret('kubeconfig'))('value'), await secret('ca')];
  const caKey = authority('tls.key');
  if (kubeconfig === undefined || caKey === undefined) return undefined;
  const access = accessOf(kubeconfig);
  if (access.token !== undefined)
    throw new Unsupported('The kubeconfig of the cluster has no client certificate');
  const { server: endpoint, caCertificate, clientCertificate, clientKey } = access;
  return { endpoint, caCertificate, clientCertificate, secret: { caKey, clientKey } };
}

async function remove(client: Client, object: LiveObject): Promise<void> {
  if (object.metadata.deletionTimestamp !== undefined) return;
  await client.remove(nameOf(object)).catch(unlessGone(object));
}

function withoutClusterApi(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  if (error.code === 404) {
    throw new Unsupported('The management cluster has no Cluster API with v1beta2; install 1.11 or later');
  }
  throw new Unsupported(`The management cluster refuses: ${error.message}`);
}

function unlessUnknown(error: unknown): LiveObject[] {
  if (error instanceof ApiError && error.code === 404) return [];
  throw error;
}

const progressing = (doing: string) => ({ state: 'progressing', doing, askAgainMs: ASK_AGAIN_MS }) as const;
