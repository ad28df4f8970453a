import type { SnapshotBackend } from '../../cloud/snapshots/backend.ts';
import type { VolumeBackend } from '../../cloud/volumes/backend.ts';
import type { Database } from '../../db/database.ts';
import { createTimedResources } from './timed-resources.ts';

/** Disks without bytes. */
export function simulatedVolumes(deps: { database: Database; speed: number }): VolumeBackend {
  return createTimedResources(deps, {
    kind: 'volume',
    making: [{ state: 'creating', ms: 200 }],
    done: 'available',
    removing: { state: 'deleting', ms: 100 },
  });
}

export function simulatedSnapshots(deps: { database: Database; speed: number }): SnapshotBackend {
  return createTimedResources(deps, {
    kind: 'snapshot',
    making: [{ state: 'creating', ms: 200 }],
    done: 'available',
    removing: { state: 'deleting', ms: 100 },
  });
}
