import type { Database } from '../../db/database.ts';
import type { Scope } from '../projects/service.ts';
import { presentedInstance } from './presenter.ts';
import type { InstanceAnswer } from './schema.ts';
import * as store from './store.ts';

/** The instances on ports, by port, as a list shows them; for those who show what a port belongs to. */
export type InstancesOnPorts = (scope: Scope, portIds: string[]) => Promise<Map<string, InstanceAnswer>>;

export function createInstancesOnPorts({ database }: { database: Database }): InstancesOnPorts {
  return async (scope, portIds) => {
    if (portIds.length === 0) return new Map();
    const rows = await store.instancesOnPorts(database.sql, scope, portIds);
    const shown = { subnets: false, interfaceNames: false };
    return new Map(
      rows.flatMap(({ port_ids, ...row }) => {
        const instance = presentedInstance(row, scope, shown);
        return port_ids.map((portId) => [portId, instance] as const);
      }),
    );
  };
}
