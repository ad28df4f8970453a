import type { VolumeTypeName } from '../catalog/catalog.ts';
import type { Provisioner } from '../provisioning/provisioner.ts';

export interface DiskOrder {
  id: string;
  sizeGib: number;
  volumeType: VolumeTypeName;
  imageId: string | null;
  snapshotId: string | null;
}

export interface DiskRemoval {
  id: string;
  /** Snapshots that go with the disk. */
  snapshotIds: string[];
}

/** What carries out the life of volumes. */
export type VolumeBackend = Provisioner<DiskOrder, DiskRemoval>;
