import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
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
import { createClient } from '../applying/client.ts';
import type { Platform } from '../platform.ts';
import { authenticationFile, authenticationFlags } from '../rendering/authentication.ts';
import { clusterRendering } from '../rendering/cluster.ts';
import { renderingProblems } from '../rendering/problems.ts';
import { isLater } from '../versions.ts';
import { FILES, type HostedCluster } from './files.ts';
import {
  findCluster,
  folderOf,
  keepAuthentication,
  keepCluster,
  listClusters,
  makeCluster,
  observationOf,
  removeCluster,
  tidy,
} from './folder.ts';
import { convergeNodes, type FlavorSize, nodesOf } from './nodes.ts';
import { freePorts } from './ports.ts';
import { type ControlPlaneSettings, processesOf } from './processes.ts';
import { hasKwok, installedVersions } from './programs/folders.ts';
import { aboutPrograms, missingOf, notInstalled } from './programs/installed.ts';
import { type Orders, readOrders, readStatus, type Status, writeOrders } from './supervisor/files.ts';
import { ensureSupervisor } from './supervisor/start.ts';

export interface HostedOptions extends ControlPlaneSettings {
  /** The folder of the clusters of this backend. */
  clusters: string;
  /** The folder of the programs, with one folder for each version. */
  programs: string;
  /** Where programs of the system are, as in PATH. */
  searchPath: string;
  address: string;
  /** What surrounds the clusters. */
  platform: Platform;
  ports: { from: number; to: number };
  sizeOf(regionId: number, flavorId: string): FlavorSize | undefined;
}

const SOON_MS = 200;
const WATCH_MS = 2_000;
/** A process that ends so often without getting ready is not going to. */
const MOST_FAILURES = 5;

/**
 * Clusters whose control planes are processes on this machine. A supervisor keeps these running, and knows nothing of
 * Kubernetes: here is decided what should run. The nodes are objects in the cluster, and kwok plays their kubelets.
 */
export function createHostedBackend(options: HostedOptions): Backend {
  const { clusters, programs, searchPath, platform } = options;

  async function present(ref: Ref, spec: ClusterSpec, call: Call): Promise<Convergence<ClusterObservation>> {
    const { id, regionId } = ref;
    const found = findCluster(clusters, id);
    if (!found && call.wasThere) throw new Refused('the cluster has disappeared with everything it held');
    const cluster = upgraded(found, spec) ?? {
      id,
      regionId,
      address: options.address,
      version: spec.version,
    };
    if (!installedVersions(programs).includes(cluster.version)) {
      throw new Unsupported(notInstalled(programs, cluster.version));
    }
    if (!('port' in cluster)) {
      await makeCluster(clusters, cluster, spec, { ...options, signal: call.signal });
      return progressing('making its keys');
    }
    if (cluster !== found) keepCluster(clusters, cluster);
    const status = ordered(cluster, wantedProcesses(cluster, spec), false);
    if (!status?.settled) return progressing(doingOf(status, readOrders(folderOf(clusters, id))));
    return inside(cluster, spec, call);
  }

  /** Returns the cluster with the version that it has to get: never an older one. */
  function upgraded(found: HostedCluster | undefined, { version }: ClusterSpec): HostedCluster | undefined {
    return found && isLater(version, found.version) ? { ...found, version } : found;
  }

  function wantedProcesses(cluster: HostedCluster, spec: ClusterSpec): Orders['processes'] {
    const folder = path.join(programs, cluster.version);
    const running = { ...spec, version: cluster.version };
    keepAuthentication(clusters, cluster, authenticationFile(running, platform));
    const apiServerFlags = authenticationFlags(running, platform, FILES.authentication);
    return processesOf(spec, cluster, { folder, kwok: hasKwok(folder), apiServerFlags }, options);
  }

  /** Gives orders, and returns what the supervisor says of them; undefined if it has not read them yet. */
  function ordered({ id }: { id: string }, processes: Orders['processes'], removing: boolean): Status | undefined {
    const folder = folderOf(clusters, id);
    const former = readOrders(folder);
    const supervisor = ensureSupervisor(clusters, searchPath);
    if (former?.removing !== removing || !isDeepStrictEqual(former.processes, processes)) {
      writeOrders(folder, { processes, removing });
      return undefined;
    }
    const status = readStatus(folder);
    const isItsOwn = supervisor !== undefined && isDeepStrictEqual(status?.supervisor, supervisor);
    return isItsOwn && status?.orders === former.id ? status : undefined;
  }

  /** Brings about what is in the cluster. */
  async function inside(
    cluster: HostedCluster,
    spec: ClusterSpec,
    call: Call,
  ): Promise<Convergence<ClusterObservation>> {
    const observed = observationOf(clusters, cluster);
    const access = { ...observed, server: observed.endpoint, clientKey: observed.secret?.clientKey ?? '' };
    const client = createClient(access, call.signal);
    try {
      if (hasKwok(path.join(programs, cluster.version))) {
        const nodes = nodesOf(spec, cluster, (flavorId) => options.sizeOf(cluster.regionId, flavorId));
        const unfinished = await convergeNodes(client, nodes);
        if (unfinished > 0) return progressing(`waiting for ${unfinished} of ${nodes.length} nodes`);
      }
      // Made by the controller manager, which has nowhere to tell its health.
      const account = { apiVersion: 'v1', kind: 'ServiceAccount', namespace: 'default', name: 'default' };
      if (!(await client.get(account))) return progressing('waiting for the controllers');
    } finally {
      client.close();
    }
    const rendering = clusterRendering({ ...spec, version: cluster.version }, platform);
    return (await applyRendering(access, rendering, call)) ?? { state: 'settled', observed };
  }

  function absent({ id }: Ref): Convergence<null> {
    if (!findCluster(clusters, id)) {
      freePorts(clusters, id);
      return { state: 'settled', observed: null };
    }
    const status = ordered({ id }, [], true);
    if (!status?.settled) return progressing('stopping its processes');
    removeCluster(clusters, id);
    return { state: 'settled', observed: null };
  }

  return {
    problems(kind, spec) {
      if (kind !== 'cluster') return [];
      const wanted = spec as ClusterSpec;
      const { version } = wanted;
      return [
        ...renderingProblems(wanted, platform),
        ...(installedVersions(programs).includes(version)
          ? []
          : [{ field: 'version', message: notInstalled(programs, version) }]),
      ];
    },
    async converge(ref, spec, call) {
      call.signal.throwIfAborted();
      if (ref.kind !== 'cluster') throw new Unsupported(`It has clusters, and no ${ref.kind}`);
      const missing = missingOf(searchPath);
      if (missing !== undefined) throw new Unsupported(missing);
      const answer = spec === null ? absent(ref) : await present(ref, spec as ClusterSpec, call);
      return answer as Convergence<Observations[typeof ref.kind] | null>;
    },
    async observe({ id }) {
      const found = findCluster(clusters, id);
      if (!found || readOrders(folderOf(clusters, id))?.removing !== false) return null;
      return observationOf(clusters, found) as Observations[Kind] as never;
    },
    async *list() {
      for (const { id, regionId } of listClusters(clusters)) yield { kind: 'cluster', id, regionId, handle: null };
    },
    async *watch({ signal }) {
      const settled = new Set<string>();
      while (!signal.aborted) {
        const known = listClusters(clusters);
        if (known.length > 0) ensureSupervisor(clusters, searchPath);
        tidy(clusters);
        for (const { id } of known) {
          const isSettled = readStatus(folderOf(clusters, id))?.settled === true;
          if (isSettled) settled.add(id);
          else if (settled.delete(id)) yield { kind: 'cluster', id };
        }
        await sleep(WATCH_MS, undefined, { signal });
      }
    },
    clusterVersions: () => installedVersions(programs),
    about: () => aboutPrograms(programs),
    async health() {
      return missingOf(searchPath) ?? (installedVersions(programs).length > 0 ? undefined : notInstalled(programs));
    },
  };
}

/** @throws Refused if a process ends again and again */
function doingOf(status: Status | undefined, orders: Orders | undefined): string {
  for (const { name } of orders?.processes ?? []) {
    const seen = status?.processes[name];
    if (seen === undefined || seen.ready) continue;
    if (seen.failures >= MOST_FAILURES) {
      throw new Refused(`${name} ends again and again. Its last words: ${seen.lastWords}`);
    }
    return `starting ${name}`;
  }
  return 'starting its processes';
}

const progressing = (doing: string) => ({ state: 'progressing', doing, askAgainMs: SOON_MS }) as const;
