import type { ImageBackend } from '../../cloud/images/backend.ts';
import type { SnapshotBackend } from '../../cloud/snapshots/backend.ts';
import type { VolumeBackend } from '../../cloud/volumes/backend.ts';
import type { Database } from '../../db/database.ts';
import { createTimedResources, forget } from './timed-resources.ts';

const CHANGE_MS = 150;

/** Disks without bytes. */
export function simulatedVolumes(deps: { database: Database; speed: number }): VolumeBackend {
  const disks = createTimedResources(deps, {
    kind: 'volume',
    making: [{ state: 'creating', ms: 200 }],
    done: 'available',
    removing: { state: 'deleting', ms: 100 },
  });
  return {
    ...disks,
    async remove(removal) {
      await disks.remove(removal);
      await forget(deps.database, removal.snapshotIds);
    },
    // Nothing to remember: all that is known of a disk is in its row.
    change: async () => ({ settlesInMs: CHANGE_MS / deps.speed }),
  };
}

export function simulatedSnapshots(deps: { database: Database; speed: number }): SnapshotBackend {
  return createTimedResources(deps, {
    kind: 'snapshot',
    making: [{ state: 'creating', ms: 200 }],
    done: 'available',
    removing: { state: 'deleting', ms: 100 },
  });
}

export function simulatedImages(deps: { database: Database; speed: number }): ImageBackend {
  return createTimedResources(deps, {
    kind: 'image',
    making: [{ state: 'saving', ms: 300 }],
    done: 'active',
    removing: { state: 'deleting', ms: 100 },
  });
}
