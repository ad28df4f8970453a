/** All kinds of volumes; the catalogue says which of them a region has. */
export const VOLUME_TYPES = ['cold', 'ssd_hiiops', 'ssd_local', 'ssd_lowlatency', 'standard', 'ultra'] as const;
/** Only these can be copied while they are being written to. */
export const SNAPSHOT_TYPES: readonly VolumeType[] = ['standard', 'ssd_hiiops'];
/** The largest volume. */
export const MAX_VOLUME_GIB = 102_400;
export type VolumeType = (typeof VOLUME_TYPES)[number];

/** Says why no snapshots can be taken of a volume; undefined if they can. */
export function whyNoSnapshots({ id, volume_type: type }: { id: string; volume_type: VolumeType }): string | undefined {
  if (SNAPSHOT_TYPES.includes(type)) return undefined;
  return `Volume ${id} is of type ${type}; snapshots are only available for ${SNAPSHOT_TYPES.join(' and ')} volumes.`;
}
