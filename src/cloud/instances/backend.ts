import type { VolumeTypeName } from '../catalog/catalog.ts';
import type { Provisioner } from '../provisioning/provisioner.ts';

/** A machine to be made with its disks and interfaces. */
export interface MachineOrder {
  id: string;
  name: string;
  flavorId: string;
  /** Those to be made for the machine and those that exist already. */
  disks: {
    id: string;
    sizeGib: number;
    volumeType: VolumeTypeName;
    imageId: string | null;
    snapshotId: string | null;
  }[];
  interfaces: { portId: string; subnetId: string; address: string }[];
}

export interface MachineRemoval {
  id: string;
  /** Disks that go with the machine. */
  diskIds: string[];
}

/** What carries out the life of instances. */
export type InstanceBackend = Provisioner<MachineOrder, MachineRemoval>;
