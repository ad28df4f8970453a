import type { Call } from '../../src/backends/contract/backend.ts';
import type { ClusterSpec } from '../../src/backends/contract/specs.ts';
import { type Client, type LiveObject, nameOf } from '../applying/client.ts';
import type { KubernetesObject } from '../rendering/objects.ts';
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

/** Brings the pools about. Returns what they wait for, and their deployments by the titles of the pools. */
export async function convergePools(
  client: Client,
  { pools, namespace }: Parts,
  spec: ClusterSpec,
  upgraded: boolean,
  call: Call,
): Promise<{ waiting: string | undefined; deployments: ReadonlyMap<string, LiveObject> }> {
  const waiting: string[] = [];
  const deployments = new Map<string, LiveObject>();
  for (const [title, { templates, deployment }] of Object.entries(pools)) {
    const pool = spec.pools[title];
    if (pool) await nameMachines(client, namespace.metadata.name, pool);
    for (const object of templates) await keep(client, object, call);
    const live = await applyPool(client, deployment, { version: spec.version, upgraded }, call);
    deployments.set(title, live);
    const doing = machinesWaitFor(`pool ${title}`, live);
    if (doing !== undefined) waiting.push(doing);
  }
  return { waiting: waiting[0], deployments };
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
 * For pools whose status says that they have as many machines as they should: one whose node is still not wanted makes
 * place for another. The status can be older than the machines: it still counts one that is gone, and not yet the one that
 * takes its place. Returns what is being replaced or is no node yet.
 */
export async function replaceMachines(
  client: Client,
  namespace: string,
  spec: ClusterSpec,
  deployments: ReadonlyMap<string, LiveObject>,
): Promise<string | undefined> {
  const left: LiveObject[] = [];
  const missing: string[] = [];
  for (const [title, pool] of Object.entries(spec.pools)) {
    const { staying, unwanted, going } = await nameMachines(client, namespace, pool);
    for (const machine of unwanted) await remove(client, { ...kindOf('Machine'), ...machine });
    left.push(...unwanted, ...going);
    const deployment = deployments.get(title);
    const { replicas = 1 } = (deployment?.spec ?? {}) as { replicas?: number };
    const unready = staying.filter((machine) => nodeNameOf(machine) === undefined);
    const ready = staying.length - unready.length;
    const about = unready[0] ?? deployment;
    if (ready < replicas && about) {
      missing.push(withReason(`pool ${title}: ${ready} of ${replicas} machines are nodes`, about));
    }
  }
  return left[0] ? withReason(`waiting until machine ${left[0].metadata.name} is gone`, left[0]) : missing[0];
}
