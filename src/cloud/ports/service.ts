import type { Database, Transaction } from '../../db/database.ts';
import { NotFoundError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { placeOf } from '../projects/place.ts';
import type { Scope } from '../projects/service.ts';
import type { InstancePorts } from '../security-groups/creation.ts';
import {
  deletePortsOf,
  insertPorts,
  lockedInstancePorts,
  type NetworkPortRow,
  type NewPort,
  portsOfInstance,
} from './store.ts';

export interface Ports extends InstancePorts {
  /** In the order of the instance's interfaces. @throws NotFoundError */
  ofInstance(scope: Scope, instanceId: string): Promise<NetworkPortRow[]>;
  /** Writes the ports of a new instance, in the order of its interfaces. */
  add(tx: Transaction, scope: Scope, instanceId: string, ports: NewPort[], now: Date): Promise<void>;
  /** Removes the ports of an instance, with the groups on them; answers their ids. Their addresses are the caller's affair. */
  removeOf(tx: Transaction, instanceId: string): Promise<string[]>;
}

export function createPorts({ database }: { database: Database }): Ports {
  return {
    async ofInstance(scope, instanceId) {
      const rows = isUuid(instanceId)
        ? await portsOfInstance(database.sql, placeOf(scope), instanceId)
        : undefined;
      if (!rows) throw new NotFoundError('Instance', instanceId);
      return rows;
    },

    add: (tx, scope, instanceId, ports, now) => insertPorts(tx, placeOf(scope), instanceId, ports, now),
    removeOf: deletePortsOf,

    async portsOf(tx, scope, instanceIds) {
      if (instanceIds.length === 0) return new Map();
      const rows = await lockedInstancePorts(tx, placeOf(scope), instanceIds);
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
