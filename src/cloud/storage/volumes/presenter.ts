import { metadataTwice } from '../../../lib/legacy-metadata.ts';
import { commonFields } from '../../../lib/resource-fields.ts';
import { offsetTimestamp } from '../../../lib/time.ts';
import type { Scope } from '../../../platform.ts';
import type { VolumeTypeName } from '../../ground/catalog/service.ts';
import type { VolumeAnswer } from './schema.ts';
import type { VolumeRow } from './store.ts';

export interface VolumeLimits {
  iops_base_limit: number;
  iops_burst_limit: number;
  MBps_base_limit: number;
  MBps_burst_limit: number;
}

/** For some minutes, a volume may exceed its base limits this many times. */
const BURST = 10;

/** Returns the published speed limits of a volume by type and size; null for types without limits. */
export function volumeLimits(type: VolumeTypeName, sizeGib: number): VolumeLimits | null {
  switch (type) {
    case 'ssd_hiiops':
      return limits(Math.min(60 * sizeGib, 9000), Math.min(2.5 * sizeGib, 500), BURST);
    case 'standard':
      return limits(Math.min(6 * sizeGib, 4500), Math.min(0.4 * sizeGib, 300), BURST);
    case 'cold':
    case 'ultra':
      return limits(1000, 100, 1);
    default:
      return null;
  }
}

function limits(iops: number, megabytes: number, burst: number): VolumeLimits {
  const megabytesBase = Math.max(1, Math.floor(megabytes));
  return {
    iops_base_limit: iops,
    iops_burst_limit: iops * burst,
    MBps_base_limit: megabytesBase,
    MBps_burst_limit: megabytesBase * burst,
  };
}

export function presentedVolume(row: VolumeRow, scope: Scope): VolumeAnswer {
  return {
    size: row.size_gib,
    ...row,
    is_root_volume: row.attachments.some((attachment) => attachment.boot_index === 0),
    attachments: row.attachments.map((attachment) => ({
      attachment_id: attachment.id,
      volume_id: row.id,
      server_id: attachment.instance_id,
      instance_name: attachment.instance_name,
      device: attachment.device,
      flavor_id: attachment.flavor_id,
      attached_at: attachment.attached_at && offsetTimestamp(attachment.attached_at),
    })),
    limiter_stats: volumeLimits(row.volume_type, row.size_gib),
    volume_image_metadata: row.image_metadata,
    ...commonFields(row, scope),
    ...metadataTwice(row.tags),
    updated_at: offsetTimestamp(row.updated_at),
  };
}
