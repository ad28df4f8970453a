import type { VolumeTypeName } from '../catalog/catalog.ts';
import type { Provisioner } from '../provisioning/provisioner.ts';
import type { ActionName } from './actions.ts';

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
  /** One for each address, so that a port with two is there twice. */
  interfaces: { portId: string; subnetId: string; address: string }[];
}

export interface MachineRemoval {
  id: string;
  /** Disks that go with the machine. */
  diskIds: string[];
}

/** What carries out the life of instances. */
export type InstanceBackend = Provisioner<MachineOrder, MachineRemoval>;

export interface MachineChange {
  instanceId: string;
  kind: ActionName | 'resize' | 'attach-interface' | 'detach-interface';
  /** Of a resize. */
  flavorId?: string;
}

/** What carries out changes of machines. Asked again with the same one, it answers the same. */
export interface MachineChanges {
  apply(change: MachineChange): Promise<{ settlesInMs: number }>;
}
