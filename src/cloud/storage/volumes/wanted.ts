import type { MachineSpec, VolumeSpec } from '../../../backends/contract/specs.ts';
import { change, type Wanted } from '../../../convergence/wants.ts';
import type { VolumeShape } from './sources.ts';

export function volumeSpec(name: string, shape: VolumeShape, metadata: Record<string, string>): VolumeSpec {
  return {
    name,
    sizeGib: shape.sizeGib,
    volumeType: shape.volumeType,
    ...(shape.imageId !== null && { source: { imageId: shape.imageId } }),
    ...(shape.snapshotId !== null && { source: { snapshotId: shape.snapshotId } }),
    metadata,
  };
}

/** Adds the volume as a disk to an existing machine. */
export function onMachine(
  instanceId: string,
  volumeId: string,
  { device, tag }: { device: string; tag?: string | undefined },
): Wanted {
  const disk: MachineSpec['disks'][string] = {
    device,
    deleteOnTermination: false,
    ...(tag !== undefined && { tag }),
  };
  return change('machine', instanceId, (spec) => ({ ...spec, disks: { ...spec.disks, [volumeId]: disk } }));
}

export function offMachine(instanceId: string, volumeId: string): Wanted {
  return change('machine', instanceId, (spec) => {
    const { [volumeId]: _, ...disks } = spec.disks;
    return { ...spec, disks };
  });
}
