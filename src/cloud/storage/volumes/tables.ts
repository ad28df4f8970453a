import type { JSONColumnType } from 'kysely';
import type { VolumeTypeName } from '../../ground/catalog/schema.ts';
import type { VolumeStatus } from './states.ts';

export interface VolumeTables {
  volumes: {
    id: string;
    project_id: number;
    region_id: number;
    name: string;
    size_gib: number;
    volume_type: VolumeTypeName;
    status: VolumeStatus;
    bootable: boolean;
    image_metadata: JSONColumnType<Record<string, string>> | null;
    tags: JSONColumnType<Record<string, string>>;
    creator_task_id: string;
    /** The task that holds the volume. */
    task_id: string | null;
    created_at: Date;
    updated_at: Date;
  };
  volume_attachments: {
    id: string;
    volume_id: string;
    instance_id: string;
    device: string;
    attachment_tag: string | null;
    delete_on_termination: boolean;
    /** 0 boots first; null never boots. */
    boot_index: number | null;
    /** Null until the attachment is complete. */
    attached_at: Date | null;
  };
}
