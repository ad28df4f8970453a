import type { Call } from '../../src/backends/contract/backend.ts';
import type { ClusterPoolSpec, ClusterSpec } from '../../src/backends/contract/specs.ts';
import type { Client, LiveObject } from '../applying/client.ts';
import { explained } from '../applying/refusals.ts';
import { keep } from './keeping.ts';
import { DELETE_FIRST, DEPLOYMENT_LABEL, kindOf, LABELS, NODE_ID, poolName } from './rendering.ts';

const NODE = { apiVersion: 'v1', kind: 'Node' } as const;

interface MachineStatus {
  nodeRef?: { name?: string };
}

/**
 * Says which machine of a pool is which node of ours. Machines have no order, so it is written on them. Those of no node
 * that is wanted, such as the autoscaler's, are marked to go first when the pool gets smaller. Returns those that stay, of
 * them those that were nodes which aren't wanted any more, and those that are going.
 */
export async function nameMachines(
  client: Client,
  namespace: string,
  pool: ClusterPoolSpec,
): Promise<{ staying: LiveObject[]; unwanted: LiveObject[]; going: LiveObject[] }> {
  const machines = await machinesOf(client, namespace, pool);
  const idOf = ({ metadata }: LiveObject): string | undefined => metadata.annotations?.[NODE_ID];
  const taken = new Set(machines.map(idOf));
  const free = Object.keys(pool.nodes).filter((id) => !taken.has(id));
  // A machine that goes hands its name on, as when an upgrade replaces it.
  const staying = machines.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  for (const machine of staying) {
    const had = idOf(machine);
    if (had !== undefined && had in pool.nodes) continue;
    const id = had ?? free.shift();
    const isWanted = id !== undefined && id in pool.nodes;
    const isMarked = machine.metadata.annotations?.[DELETE_FIRST] !== undefined;
    if (!isWanted && isMarked) continue;
    await annotate(client, machine, {
      ...(id !== undefined && { [NODE_ID]: id }),
      ...(!isWanted && { [DELETE_FIRST]: 'tradewind' }),
    });
  }
  const unwanted = staying.filter((machine) => {
    const id = idOf(machine);
    return id !== undefined && !(id in pool.nodes);
  });
  return { staying, unwanted, going: machines.filter((machine) => !staying.includes(machine)) };
}

/** Returns the name of the cluster's node that the machine has become; undefined while it has not. */
export const nodeNameOf = ({ status }: LiveObject): string | undefined =>
  (status as MachineStatus | undefined)?.nodeRef?.name;

async function machinesOf(client: Client, namespace: string, pool: ClusterPoolSpec): Promise<LiveObject[]> {
  const labelSelector = `${DEPLOYMENT_LABEL}=${poolName(pool)}`;
  const found = await client.list({ ...kindOf('Machine'), namespace }, { labelSelector });
  return found.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

async function annotate(
  client: Client,
  { metadata: { name, namespace = '' } }: LiveObject,
  annotations: Record<string, string>,
): Promise<void> {
  const object = { ...kindOf('Machine'), metadata: { name, namespace, annotations } };
  await client.apply(object, { force: true }).catch((error: unknown) => {
    throw explained(error, object);
  });
}

/** Gives the nodes the labels of their pools, in place. */
export async function labelNodes(
  management: Client,
  workload: Client,
  namespace: string,
  spec: ClusterSpec,
  call: Pick<Call, 'log'>,
): Promise<void> {
  const nodes = await workload.list(NODE, {});
  const byName = new Map(nodes.map((node) => [node.metadata.name, node]));
  for (const [title, pool] of Object.entries(spec.pools)) {
    const labels = { ...pool.labels, [LABELS.pool]: title };
    for (const machine of await machinesOf(management, namespace, pool)) {
      const name = nodeNameOf(machine);
      // Applying would make what isn't there.
      const live = name === undefined ? undefined : byName.get(name);
      if (live) await keep(workload, { ...NODE, metadata: { name: live.metadata.name, labels } }, call, live);
    }
  }
}
