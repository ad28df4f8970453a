import type { Scope } from '../../../ground/projects/service.ts';
import type { InstanceVolumeWish } from '../../../storage/volumes/of-instances/in-transaction.ts';
import type { PossibleVolume } from './schema.ts';

/** Returns the volume as a creation would ask for it. If its source is still unknown, it counts as a blank volume. */
export function knownVolume(volume: PossibleVolume, { region }: Pick<Scope, 'region'>): InstanceVolumeWish {
  const { source, image_id, snapshot_id, volume_id } = volume;
  const size = volume.size ?? undefined;
  const type_name = volume.type_name ?? undefined;
  if (source === 'existing-volume' && volume_id) return { source, volume_id };
  if (source === 'image' && image_id) return { source, image_id, size, type_name };
  if (source === 'snapshot' && snapshot_id) return { source, snapshot_id, size, type_name };
  return { source: 'new-volume', type_name: type_name ?? region.available_volume_types?.[0] };
}
