import type { ClusterConfiguration, GroupName } from './configuration/configuration.ts';

/** How long an operation goes on after it was accepted; the next one may follow then. */
export interface Pace {
  settlesInMs: number;
}

export interface ControlPlane {
  clusterId: string;
  name: string;
  /** With the leading `v`. */
  version: string;
}

export interface PoolOfNodes {
  name: string;
  flavorId: string;
  nodeCount: number;
  settings: PoolSettings;
}

/** What a pool wants of its nodes and their number. */
export interface PoolSettings {
  /** Of two settings of a pool, those with the higher one are the newer. */
  revision: number;
  minNodeCount: number;
  maxNodeCount: number;
  autoHealing: boolean;
  labels: Record<string, string>;
  taints: Record<string, string>;
  crioConfig: Record<string, string>;
  kubeletConfig: Record<string, string>;
  securityGroupIds: string[];
}

export interface NodeReplacement {
  goneId: string;
  madeId: string;
}

/**
 * What carries out the work on clusters in a region. `key` names one piece of work: asked again with the same key,
 * a backend changes nothing and answers as before, since a step may run twice after a crash.
 * A fault that the task's reader should know about is a `TaskFailure`.
 */
export interface ClusterBackend {
  createControlPlane(key: string, cluster: ControlPlane): Promise<Pace>;
  createPool(key: string, clusterId: string, pool: PoolOfNodes): Promise<Pace>;
  /**
   * Opens a change. `unfinished`: an earlier one was cut off, by its deadline for example, and may have left parts of
   * itself, or the settings of one of the pools never arrived.
   */
  beginChange(key: string, clusterId: string, pools: PoolOfNodes[]): Promise<Pace & { unfinished: boolean }>;
  /** Makes one group of settings what `configuration` says, replacing what was there. */
  apply(key: string, clusterId: string, group: GroupName, configuration: ClusterConfiguration): Promise<Pace>;
  /** Changes how many nodes a pool has. */
  resizePool(key: string, clusterId: string, pool: PoolOfNodes): Promise<Pace>;
  /** Makes a new node, under the id of the second, in place of the first. */
  replaceNode(key: string, clusterId: string, poolName: string, node: NodeReplacement): Promise<Pace>;
  /**
   * Applies settings to a pool and the nodes that it has, whatever else is going on. Older ones than it has are ignored,
   * as they are for a pool that isn't there.
   */
  configurePool(key: string, clusterId: string, poolName: string, settings: PoolSettings): Promise<Pace>;
  /** Makes the cluster's pools those, and no others. */
  keepPools(key: string, clusterId: string, pools: PoolOfNodes[]): Promise<Pace>;
  /** Brings the control plane to a newer version, with its leading `v`. */
  upgradeControlPlane(key: string, clusterId: string, version: string): Promise<Pace>;
  /** Replaces the nodes of a pool by such of the version. */
  upgradePool(key: string, clusterId: string, poolName: string, version: string): Promise<Pace>;
  /** Closes a creation or change, once all that was asked for runs. */
  awaitReady(key: string, clusterId: string): Promise<Pace>;
  /** Nothing to do where the pool or the whole cluster isn't there, as for the next one. */
  deletePool(key: string, clusterId: string, poolName: string): Promise<Pace>;
  deleteControlPlane(key: string, clusterId: string): Promise<Pace>;
}
