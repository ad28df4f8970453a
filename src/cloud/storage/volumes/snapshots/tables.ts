import type { JSONColumnType } from 'kysely';
import type { VolumeTypeName } from '../../../ground/catalog/schema.ts';

export const SNAPSHOT_STATUSES = [
  'available',
  'backing-up',
  'creating',
  'deleted',
  'deleting',
  'error',
  'error_deleting',
  'restoring',
  'unmanaging',
] as const;
export type SnapshotStatus = (typeof SNAPSHOT_STATUSES)[number];

export interface SnapshotTables {
  snapshots: {
    id: string;
    project_id: number;
    region_id: number;
    name: string;
    description: string | null;
    volume_id: string;
    size_gib: number;
    /** The volume's type when the snapshot was taken. */
    volume_type: VolumeTypeName;
    status: SnapshotStatus;
    tags: JSONColumnType<Record<string, string>>;
    creator_task_id: string;
    task_id: string | null;
    created_at: Date;
    updated_at: Date;
  };
}
