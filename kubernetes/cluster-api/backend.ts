import {
  type Backend,
  type Call,
  type Convergence,
  type Kind,
  type Ref,
  Refused,
  Unsupported,
} from '../../src/backends/contract/backend.ts';
import type { ClusterObservation, ClusterSpec, Observations } from '../../src/backends/contract/specs.ts';
import { applyRendering } from '../applying/apply.ts';
import { ApiError, type Client, type ClusterAccess, createClient, type LiveObject } from '../applying/client.ts';
import { accessOf } from '../applying/kubeconfig.ts';
import { decoded } from '../base64.ts';
import type { Platform } from '../platform.ts';
import { clusterRendering } from '../rendering/cluster.ts';
import { renderingProblems } from '../rendering/problems.ts';
import { isLater } from '../versions.ts';
import { keep, remove } from './keeping.ts';
import { labelNodes } from './nodes.ts';
import { convergePools, removeFormerPools, replaceMachines } from './pools.ts';
import { clusterWaitsFor, controlPlaneWaitsFor, withReason } from './progress.ts';
import { clusterName, type Infrastructure, kindOf, LABELS, partsOf } from './rendering.ts';
import { createWatch } from './watching.ts';

type Credentials = ClusterObservation & Required<Pick<ClusterObservation, 'secret'>>;

/**
 * Reads what the cluster's own secrets say, each time, since Cluster API renews them. Returns undefined if they aren't
 * there yet.
 * @throws Unsupported if the kubeconfig is not one with a client certificate
 */
export async function credentialsIn(
  client: Client,
  { metadata: { name, namespace = '' } }: LiveObject,
): Promise<Credentials | undefined> {
  const secret = async (purpose: string): Promise<Record<string, string>> => {
    const of = { apiVersion: 'v1', kind: 'Secret', name: `${name}-${purpose}`, namespace };
    return ((await client.get(of))?.data ?? {}) as Record<string, string>;
  };
  const [{ value: kubeconfig }, { 'tls.key': caKey }] = [await secret('kubeconfig'), await secret('ca')];
  if (kubeconfig === undefined || caKey === undefined) return undefined;
  const access = read(decoded(kubeconfig));
  if (access.token !== undefined) throw new Unsupported("The cluster's kubeconfig has no client certificate");
  const { server: endpoint, caCertificate, clientCertificate, clientKey } = access;
  return { endpoint, caCertificate, clientCertificate, secret: { caKey: decoded(caKey), clientKey } };
}

function read(kubeconfig: string): ClusterAccess {
  try {
    return accessOf(kubeconfig);
  } catch (error) {
    throw new Unsupported(`The cluster's kubeconfig ${(error as Error).message}`);
  }
}

export const accessBy = ({ endpoint: server, secret, ...certificates }: Credentials): ClusterAccess => ({
  server,
  ...certificates,
  clientKey: secret.clientKey,
});

/** What may be stored. */
export function withoutKeys({ secret: _, ...observed }: Credentials): ClusterObservation {
  return { ...observed, keepsKeys: true };
}

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
  const partsOfCluster = ({ id }: Pick<Ref, 'id'>): string => `${ours},${LABELS.cluster}=${id}`;
  const watchClusters = createWatch(ours);
  const namespaceOf = ({ projectId }: Ref): string => `${infrastructure.namespacePrefix}${projectId}`;

  async function withClient<T>(signal: AbortSignal, use: (client: Client) => Promise<T>): Promise<T> {
    const client = createClient(access, signal);
    try {
      return await use(client);
    } catch (error) {
      signal.throwIfAborted();
      throw aboutManagement(error);
    } finally {
      client.close();
    }
  }

  async function find(client: Client, ref: Pick<Ref, 'id'>): Promise<LiveObject | undefined> {
    const [found] = await client.list(kindOf('Cluster'), { labelSelector: partsOfCluster(ref) });
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
    const control = controlPlaneWaitsFor(controlPlane, spec.version);
    const { waiting, deployments } = await convergePools(client, parts, spec, control === undefined, call);
    const former = await removeFormerPools(client, parts, partsOfCluster(ref), spec);
    const cluster = found ?? (await find(client, ref));
    if (!cluster) return progressing('making its objects');
    const doing = clusterWaitsFor(cluster) ?? control ?? waiting ?? former;
    return doing === undefined ? inside(client, cluster, spec, deployments, call) : progressing(doing);
  }

  /** Returns the spec with the version that the control plane has to get: never an older one. */
  async function withItsVersion(client: Client, ref: Ref, spec: ClusterSpec): Promise<ClusterSpec> {
    const name = { name: clusterName(ref), namespace: namespaceOf(ref) };
    const former = await client.get({ ...kindOf('KubeadmControlPlane'), ...name });
    const { version = spec.version } = (former?.spec ?? {}) as { version?: string };
    return isLater(version, spec.version) ? { ...spec, version } : spec;
  }

  async function inside(
    client: Client,
    cluster: LiveObject,
    spec: ClusterSpec,
    deployments: ReadonlyMap<string, LiveObject>,
    call: Call,
  ): Promise<Convergence<ClusterObservation>> {
    const seen = await credentialsIn(client, cluster);
    if (!seen) return progressing('waiting for its kubeconfig');
    const { namespace = '' } = cluster.metadata;
    const replacing = await replaceMachines(client, namespace, spec, deployments);
    if (replacing !== undefined) return progressing(replacing);
    const into = accessBy(seen);
    const workload = createClient(into, call.signal);
    try {
      await labelNodes(client, workload, namespace, spec, call);
    } finally {
      workload.close();
    }
    const applied = await applyRendering(into, clusterRendering(spec, platform), call);
    return applied ?? { state: 'settled', observed: withoutKeys(seen) };
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
      const rest = await client.list(of, { labelSelector: partsOfCluster(ref) }).catch(unlessUnknown);
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
      const found = await withClient(signal, (client) => client.list(kindOf('Cluster'), { labelSelector: ours }));
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
        for await (const id of watchClusters(client, until)) yield { kind: 'cluster', id };
      } finally {
        ending.abort();
        client.close();
      }
    },
    ...(versions && { clusterVersions: () => versions }),
    health: ({ signal }) =>
      withClient(signal, async (client) => {
        await client.list(kindOf('Cluster'), { limit: '1' });
        return undefined;
      }),
  };
}

/** Whoever could say more of a refusal has done so; what is left is said by the management cluster. */
function aboutManagement(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  return new Unsupported(
    error.code === 404
      ? 'The management cluster has no Cluster API with v1beta2; install 1.11 or later'
      : `The management cluster refuses: ${error.message}`,
  );
}

function unlessUnknown(error: unknown): LiveObject[] {
  if (error instanceof ApiError && error.code === 404) return [];
  throw error;
}

const progressing = (doing: string) => ({ state: 'progressing', doing, askAgainMs: ASK_AGAIN_MS }) as const;
