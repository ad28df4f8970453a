import type { Database } from '../../db/database.ts';
import { NotFoundError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { placeOf } from '../projects/place.ts';
import type { Scope } from '../projects/service.ts';
import type { InstancePorts } from '../security-groups/service.ts';
import { lockedInstancePorts, type NetworkPortRow, portsOfInstance } from './store.ts';

export interface Ports extends InstancePorts {
  /** In the order of the instance's interfaces. @throws NotFoundError */
  ofInstance(scope: Scope, instanceId: string): Promise<NetworkPortRow[]>;
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
