import { type Static, Type } from 'typebox';
import { MetadataMap, newTags } from '../../lib/legacy-metadata.ts';
import { nullable } from '../../lib/nullable.ts';
import { ResourceFields, Uuid, UuidInput } from '../../lib/resource-fields.ts';
import { TagsPatchInput } from '../../lib/tags-patch.ts';
import { listOf, listQuery, ProjectRegion, ResourceName } from '../../lib/wire.ts';
import { SNAPSHOT_STATUSES } from './tables.ts';

export const CreateSnapshotSchema = Type.Object(
  {
    volume_id: UuidInput('The volume to take a snapshot of'),
    name: ResourceName('Name'),
    description: Type.Optional(Type.String({ maxLength: 255, examples: ['Before the upgrade'] })),
    ...newTags,
  },
  {
    title: 'CreateSnapshot',
    additionalProperties: false,
    examples: [{ volume_id: '726ecfcc-7fd0-4e30-a86e-7892524aa483', name: 'before the upgrade' }],
  },
);
export type CreateSnapshot = Static<typeof CreateSnapshotSchema>;

export const UpdateSnapshotSchema = Type.Object(
  { name: Type.Optional(ResourceName('Name')), tags: Type.Optional(TagsPatchInput) },
  {
    title: 'UpdateSnapshot',
    additionalProperties: false,
    examples: [{ name: 'after', tags: { env: 'test' } }],
  },
);
export type UpdateSnapshot = Static<typeof UpdateSnapshotSchema>;

export const SnapshotAnswer = Type.Object(
  {
    id: Uuid('Snapshot ID'),
    name: Type.String(),
    description: nullable(Type.String()),
    volume_id: Uuid('The volume that it was taken of'),
    size: Type.Integer({ description: 'GiB', examples: [10] }),
    status: Type.Enum(SNAPSHOT_STATUSES, { type: 'string' }),
    ...ResourceFields,
    ...MetadataMap,
    creator_task_id: Uuid('Task that made it'),
  },
  { title: 'Snapshot', description: 'A copy of a volume at one moment' },
);
export type SnapshotAnswer = Static<typeof SnapshotAnswer>;
export const SnapshotList = listOf(SnapshotAnswer, 'SnapshotList');

export const SnapshotListQuery = Type.Object(
  {
    ...listQuery(),
    volume_id: Type.Optional(UuidInput('Snapshots of this volume')),
    instance_id: Type.Optional(UuidInput('Snapshots of the volumes of this instance')),
    schedule_id: Type.Optional(
      Type.String({
        maxLength: 63,
        description: 'Taken by this schedule; there are no schedules, so none is found',
      }),
    ),
    lifecycle_policy_id: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Taken by this policy; there are no policies, so none is found',
      }),
    ),
  },
  { additionalProperties: false },
);
export type SnapshotListQuery = Static<typeof SnapshotListQuery>;

export const SnapshotParams = Type.Object({
  ...ProjectRegion,
  snapshot_id: Type.String({ description: 'Snapshot ID' }),
});
