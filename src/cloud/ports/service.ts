import type { Database, Transaction } from '../../db/database.ts';
import { foundById } from '../../lib/found.ts';
import { refuseNode } from '../instances/nodes/refuse-node.ts';
import type { Scope } from '../projects/service.ts';
import type { InstancePorts } from '../security-groups/creation.ts';
import {
  deletePortsOf,
  insertPorts,
  lockedInstancePorts,
  type NetworkPortRow,
  type PlacedPort,
  portsOfInstance,
} from './store.ts';

export interface Ports extends InstancePorts {
  /** In the order of the instance's interfaces. @throws NotFoundError */
  ofInstance(scope: Scope, instanceId: string): Promise<NetworkPortRow[]>;
  /** Writes new ports of instances, each at its place among the interfaces. */
  addToMany(tx: Transaction, scope: Scope, ports: PlacedPort[], now: Date): Promise<void>;
  /** Removes the ports of instances, with the groups on them; answers their ids. Their addresses are the caller's affair. */
  removeOf(tx: Transaction, instanceIds: readonly string[]): Promise<string[]>;
}

export function createPorts({ database }: { database: Database }): Ports {
  return {
    ofInstance: (scope, instanceId) =>
      foundById('Instance', instanceId, () => portsOfInstance(database.sql, scope, instanceId)),

    addToMany: (tx, scope, ports, now) => insertPorts(tx, scope, ports, now),
    removeOf: deletePortsOf,

    async portsOf(tx, scope, instanceIds) {
      if (instanceIds.length === 0) return new Map();
      const rows = await lockedInstancePorts(tx, scope, instanceIds);
      const node = rows.find(({ poolId }) => poolId !== null);
      if (node) await refuseNode(tx, { id: node.instanceId, pool_id: node.poolId });
      const found = new Map<string, string[]>();
      for (const { instanceId, portId } of rows) {
        const ports = found.get(instanceId) ?? [];
        if (portId !== null) ports.push(portId);
        found.set(instanceId, ports);
      }
      // By the ids as they were given, which may be in capitals.
      return new Map(
        instanceIds.flatMap((id) => {
          const ports = found.get(id.toLowerCase());
          return ports ? [[id, ports] as const] : [];
        }),
      );
    },
  };
}
