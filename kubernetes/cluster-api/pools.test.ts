import { expect, it } from 'vitest';
import type { ClusterPoolSpec, ClusterSpec } from '../../src/backends/contract/specs.ts';
import type { Client, LiveObject } from '../applying/client.ts';
import { replaceMachines } from './pools.ts';
import { kindOf, NODE_ID, poolName } from './rendering.ts';

const pool = { id: 'web', nodes: { kept: {}, fresh: {} } } as unknown as ClusterPoolSpec;
const spec = { pools: { web: pool } } as unknown as ClusterSpec;
const deployment = {
  ...kindOf('MachineDeployment'),
  metadata: { name: poolName(pool), namespace: 'n', uid: 'deployment' },
  spec: { replicas: 2 },
  // Of before the removal: nothing in it tells that a machine is missing.
  status: { replicas: 2, upToDateReplicas: 2, availableReplicas: 2 },
} as unknown as LiveObject;

const deployments = new Map([['web', deployment]]);

function machine(name: string, nodeId?: string, nodeName?: string): LiveObject {
  const annotations = nodeId === undefined ? {} : { [NODE_ID]: nodeId };
  return {
    ...kindOf('Machine'),
    metadata: { name, namespace: 'n', uid: name, annotations },
    status: nodeName === undefined ? {} : { nodeRef: { name: nodeName } },
  };
}

/** A management cluster in which somebody else makes machines. */
function management(...machines: LiveObject[]): Client {
  return {
    list: async () => structuredClone(machines),
    apply: async ({ metadata }: LiveObject) => {
      const found = machines.find(({ metadata: { name } }) => name === metadata.name);
      Object.assign(found?.metadata.annotations ?? {}, metadata.annotations);
    },
  } as unknown as Client;
}

it('waits for the machine that takes the place of one that is gone, though the status counts both', async () => {
  const kept = machine('a', 'kept', 'node-a');
  expect(await replaceMachines(management(kept), 'n', spec, deployments)).toBe('pool web: 1 of 2 machines are nodes');
});

it('waits until the machine is a node, and gives it the name that is free', async () => {
  const made = machine('b');
  const client = management(machine('a', 'kept', 'node-a'), made);
  expect(await replaceMachines(client, 'n', spec, deployments)).toBe('pool web: 1 of 2 machines are nodes');
  expect(made.metadata.annotations).toEqual({ [NODE_ID]: 'fresh' });
});

it('waits for nothing once all machines are nodes', async () => {
  const client = management(machine('a', 'kept', 'node-a'), machine('b', 'fresh', 'node-b'));
  expect(await replaceMachines(client, 'n', spec, deployments)).toBeUndefined();
});
