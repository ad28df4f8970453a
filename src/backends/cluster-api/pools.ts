import type { Call } from '../contract/backend.ts';
import type { ClusterPoolSpec, ClusterSpec } from '../contract/specs.ts';
import { type Client, type LiveObject, nameOf } from '../kubernetes/applying/client.ts';
import type { KubernetesObject } from '../kubernetes/rendering/objects.ts';
import { keep, remove } from './keeping.ts';
import { nameMachines, nodeNameOf } from './nodes.ts';
import { machinesWaitFor, withReason } from './progress.ts';
import { kindOf, LABELS, NODES, type Parts, poolName, sizesOf } from './rendering.ts';

/** Of the control plane, which pools follow and are never newer than. */
interface ControlPlane {
  version: string;
  /** Whether all its machines have this version. */
  upgraded: boolean;
}

/** Brings the pools about. Returns what they wait for. */
export async function convergePools(
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

async function applyPool(
  client: Client,
  deployment: KubernetesObject,
  controlPlane: ControlPlane,
  call: Call,
): Promise<LiveObject> {
  const former = await client.get(nameOf(deployment));
  const had = former?.spec as { template: { spec: { version?: string } } } | undefined;
  const version = controlPlane.upgraded ? controlPlane.version : had?.template.spec.version;
  const spec = deployment.spec as { template: { spec: object } };
  const template = {
    ...spec.template,
    spec: { ...spec.template.spec, version: version ?? controlPlane.version },
  };
  const wanted = { ...deployment, spec: { ...spec, replicas: replicasOf(deployment, former), template } };
  return keep(client, wanted, call, former);
}

/**
 * Returns how many machines a pool gets: ours when it changed, and otherwise what is there, which the autoscaler may
 * have chosen, if the pool allows it.
 */
function replicasOf({ metadata }: KubernetesObject, former: LiveObject | undefined): number {
  const { annotations = {} } = metadata;
  const wanted = Number(annotations[NODES]);
  if (!former || former.metadata.annotations?.[NODES] !== annotations[NODES]) return wanted;
  const { replicas = wanted } = former.spec as { replicas?: number };
  const { smallest, largest } = sizesOf(annotations);
  return replicas >= smallest && replicas <= largest ? replicas : wanted;
}

/** Removes pools that the cluster has no more. Returns what is being removed. */
export async function removeFormerPools(
  client: Client,
  { namespace }: Parts,
  labelSelector: string,
  spec: ClusterSpec,
): Promise<string | undefined> {
  const of = { ...kindOf('MachineDeployment'), namespace: namespace.metadata.name };
  const names = new Set(Object.values(spec.pools).map(poolName));
  const there = await client.list(of, { labelSelector });
  const former = there.filter(({ metadata }) => !names.has(metadata.name));
  for (const one of former) await remove(client, { ...of, ...one });
  const [first] = former;
  return first && withReason(`removing pool ${first.metadata.labels?.[LABELS.pool]}`, first);
}

/**
 * For pools that have as many machines as they should: one whose node is still not wanted makes place for another.
 * Returns what is being replaced or is not there yet.
 */
export async function replaceMachines(
  client: Client,
  namespace: string,
  spec: ClusterSpec,
): Promise<string | undefined> {
  const left: LiveObject[] = [];
  let missing: string | undefined;
  for (const [title, pool] of Object.entries(spec.pools)) {
    const { staying, unwanted, going } = await nameMachines(client, namespace, pool);
    for (const machine of unwanted) await remove(client, { ...kindOf('Machine'), ...machine });
    left.push(...unwanted, ...going);
    missing ??= await missingMachines(client, namespace, { title, pool, staying });
  }
  return left[0] ? withReason(`waiting until machine ${left[0].metadata.name} is gone`, left[0]) : missing;
}

/**
 * Returns what a pool waits for that isn't complete. Its status can be older than its machines: it still counts one
 * that is gone, and not yet the one that takes its place.
 */
async function missingMachines(
  client: Client,
  namespace: string,
  { title, pool, staying }: { title: string; pool: ClusterPoolSpec; staying: readonly LiveObject[] },
): Promise<string | undefined> {
  const deployment = await client.get({ ...kindOf('MachineDeployment'), name: poolName(pool), namespace });
  const { replicas = 0 } = (deployment?.spec ?? {}) as { replicas?: number };
  const ready = staying.filter((machine) => nodeNameOf(machine) !== undefined).length;
  return ready < replicas ? `pool ${title}: ${ready} of ${replicas} machines are nodes` : undefined;
}
