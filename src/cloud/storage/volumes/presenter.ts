import { metadataTwice } from '../../../lib/legacy-metadata.ts';
import { commonFields } from '../../../lib/resource-answer.ts';
import { offsetTimestamp } from '../../../lib/timestamps.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { volumeLimits } from './limiter-stats.ts';
import type { VolumeAnswer } from './schema.ts';
import type { VolumeRow } from './store.ts';

export function presentedVolume(row: VolumeRow, scope: Scope): VolumeAnswer {
  return {
    id: row.id,
    name: row.name,
    size: row.size_gib,
    volume_type: row.volume_type,
    status: row.status,
    bootable: row.bootable,
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
    snapshot_ids: row.snapshot_ids,
    limiter_stats: volumeLimits(row.volume_type, row.size_gib),
    volume_image_metadata: row.image_metadata,
    ...commonFields(row, scope),
    ...metadataTwice(row.tags),
    updated_at: offsetTimestamp(row.updated_at),
  };
}
