import { type Static, Type } from 'typebox';
import { MetadataMap, newTags } from '../../../../lib/legacy-metadata.ts';
import { ResourceFields, Uuid, UuidInput } from '../../../../lib/resource-fields.ts';
import { TagsPatchInput } from '../../../../lib/tags.ts';
import { Choice, Input, listOf, listQuery, nullable, PlaceParams, Query, ResourceName } from '../../../../lib/wire.ts';

const SNAPSHOT_STATUSES = [
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

export const CreateSnapshotSchema = Input(
  'CreateSnapshot',
  {
    volume_id: UuidInput('Volume to create the snapshot from'),
    name: ResourceName('Name'),
    description: Type.Optional(Type.String({ maxLength: 255, examples: ['Before the upgrade'] })),
    ...newTags,
  },
  { volume_id: '726ecfcc-7fd0-4e30-a86e-7892524aa483', name: 'before the upgrade' },
);

export type CreateSnapshot = Static<typeof CreateSnapshotSchema>;

export const UpdateSnapshotSchema = Input(
  'UpdateSnapshot',
  { name: Type.Optional(ResourceName('Name')), tags: Type.Optional(TagsPatchInput) },
  { name: 'after', tags: { env: 'test' } },
);

export type UpdateSnapshot = Static<typeof UpdateSnapshotSchema>;

export const SnapshotAnswer = Type.Object(
  {
    id: Uuid('Snapshot ID'),
    name: Type.String(),
    description: nullable(Type.String()),
    volume_id: Uuid('Source volume of the snapshot'),
    size: Type.Integer({ description: 'Size in GiB', examples: [10] }),
    status: Choice(SNAPSHOT_STATUSES),
    ...ResourceFields,
    ...MetadataMap,
    creator_task_id: Uuid('Task that created it'),
  },
  { title: 'Snapshot', description: 'A point-in-time copy of a volume' },
);

export type SnapshotAnswer = Static<typeof SnapshotAnswer>;
export const SnapshotList = listOf(SnapshotAnswer, 'SnapshotList');

export const SnapshotListQuery = Query({
  ...listQuery(),
  volume_id: Type.Optional(UuidInput('Only snapshots of this volume')),
  instance_id: Type.Optional(UuidInput('Only snapshots of volumes of this instance')),
  schedule_id: Type.Optional(
    Type.String({
      maxLength: 63,
      description: 'Only snapshots created by this schedule',
    }),
  ),
  lifecycle_policy_id: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Only snapshots created by this policy',
    }),
  ),
});

export type SnapshotListQuery = Static<typeof SnapshotListQuery>;

export const SnapshotParams = PlaceParams({ snapshot_id: 'Snapshot ID' });
