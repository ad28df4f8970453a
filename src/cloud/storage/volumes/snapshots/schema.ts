import { type Static, Type } from 'typebox';
import { MetadataMap, newTags } from '../../../../lib/legacy-metadata.ts';
import { ResourceFields, Uuid, UuidInput } from '../../../../lib/resource-fields.ts';
import { TagsPatchInput } from '../../../../lib/tags.ts';
import * as wire from '../../../../lib/wire.ts';

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

export const CreateSnapshotSchema = wire.Input(
  'CreateSnapshot',
  {
    volume_id: UuidInput('Volume to create the snapshot from'),
    name: wire.ResourceName('Name'),
    description: wire.OptionalText({ maxLength: 255, examples: ['Before the upgrade'] }),
    ...newTags,
  },
  { volume_id: '726ecfcc-7fd0-4e30-a86e-7892524aa483', name: 'before the upgrade' },
);

export type CreateSnapshot = Static<typeof CreateSnapshotSchema>;

export const UpdateSnapshotSchema = wire.Input(
  'UpdateSnapshot',
  { name: Type.Optional(wire.ResourceName('Name')), tags: Type.Optional(TagsPatchInput) },
  { name: 'after', tags: { env: 'test' } },
);

export type UpdateSnapshot = Static<typeof UpdateSnapshotSchema>;

export const SnapshotAnswer = Type.Object(
  {
    id: Uuid('Snapshot ID'),
    name: Type.String(),
    description: wire.nullable(Type.String()),
    volume_id: Uuid('Source volume of the snapshot'),
    size: Type.Integer({ description: 'Size in GiB', examples: [10] }),
    status: wire.Choice(SNAPSHOT_STATUSES),
    ...ResourceFields,
    ...MetadataMap,
    creator_task_id: Uuid('Task that created it'),
  },
  { title: 'Snapshot', description: 'A point-in-time copy of a volume' },
);

export type SnapshotAnswer = Static<typeof SnapshotAnswer>;
export const SnapshotList = wire.listOf(SnapshotAnswer, 'SnapshotList');

export const SnapshotListQuery = wire.Query({
  ...wire.listQuery(),
  volume_id: Type.Optional(UuidInput('Only snapshots of this volume')),
  instance_id: Type.Optional(UuidInput('Only snapshots of volumes of this instance')),
  schedule_id: wire.OptionalText({
    maxLength: 63,
    description: 'Only snapshots created by this schedule',
  }),
  lifecycle_policy_id: wire.OptionalInteger({
    minimum: 0,
    description: 'Only snapshots created by this policy',
  }),
});

export type SnapshotListQuery = Static<typeof SnapshotListQuery>;

export const SnapshotParams = wire.PlaceParams({ snapshot_id: 'Snapshot ID' });
