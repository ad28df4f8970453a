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

/** What can be done to a disk that exists. */
export type DiskChange =
  | { kind: 'attach'; diskId: string; instanceId: string; device: string }
  | { kind: 'detach'; diskId: string; instanceId: string }
  | { kind: 'extend'; diskId: string; sizeGib: number }
  | { kind: 'retype'; diskId: string; volumeType: VolumeTypeName }
  | { kind: 'revert'; diskId: string; snapshotId: string };

/** What carries out the life of volumes. */
export interface VolumeBackend extends Provisioner<DiskOrder, DiskRemoval> {
  /** Starts the change, which has settled that much later. What is as asked already stays so. */
  change(change: DiskChange): Promise<{ settlesInMs: number }>;
}
