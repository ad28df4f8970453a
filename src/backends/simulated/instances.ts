import type { InstanceBackend } from '../../cloud/instances/backend.ts';
import type { Database } from '../../db/database.ts';
import { createTimedResources, forget } from './timed-resources.ts';

/** Machines that exist only as a row: the states are Nova's, in its order. Disks made with them have no rows. */
export function simulatedInstances(deps: { database: Database; speed: number }): InstanceBackend {
  const machines = createTimedResources(deps, {
    kind: 'instance',
    making: [
      { state: 'scheduling', ms: 50 },
      { state: 'block_device_mapping', ms: 150 },
      { state: 'networking', ms: 100 },
      { state: 'spawning', ms: 200 },
    ],
    done: 'active',
    removing: { state: 'deleting', ms: 200 },
  });
  return {
    ...machines,
    async remove(removal) {
      await machines.remove(removal);
      // A disk that was there before its machine has a row of its own, and goes with the machine all the same.
      await forget(deps.database, removal.diskIds);
    },
  };
}
