import type { InstanceBackend } from '../../cloud/instances/backend.ts';
import type { Database } from '../../db/database.ts';
import { createTimedResources } from './timed-resources.ts';

/** Machines that exist only as a row: the states are Nova's, in its order. Their disks come and go with them. */
export function simulatedInstances(deps: { database: Database; speed: number }): InstanceBackend {
  return createTimedResources(deps, {
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
}
