import { type Static, Type } from 'typebox';
import { nullable } from '../../lib/nullable.ts';
import { ResourceFields, Uuid, UuidInput } from '../../lib/resource-fields.ts';
import { TagsInput } from '../../lib/tags-input.ts';
import { listOf, listQuery, ProjectRegion, ResourceName } from '../../lib/wire.ts';
import { SNAPSHOT_STATUSES } from './tables.ts';

export const CreateSnapshotSchema = Type.Object(
  {
    volume_id: UuidInput('The volume to take a snapshot of'),
    name: ResourceName('Name'),
    description: Type.Optional(Type.String({ maxLength: 255, examples: ['Before the upgrade'] })),
    tags: Type.Optional(TagsInput),
  },
  {
    title: 'CreateSnapshot',
    additionalProperties: false,
    examples: [{ volume_id: '726ecfcc-7fd0-4e30-a86e-7892524aa483', name: 'before the upgrade' }],
  },
);
export type CreateSnapshot = Static<typeof CreateSnapshotSchema>;

export const SnapshotAnswer = Type.Object(
  {
    id: Uuid('Snapshot ID'),
    name: Type.String(),
    description: nullable(Type.String()),
    volume_id: Uuid('The volume that it was taken of'),
    size: Type.Integer({ description: 'GiB', examples: [10] }),
    status: Type.Enum(SNAPSHOT_STATUSES, { type: 'string' }),
    ...ResourceFields,
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
  },
  { additionalProperties: false },
);

export const SnapshotParams = Type.Object({
  ...ProjectRegion,
  snapshot_id: Type.String({ description: 'Snapshot ID' }),
});
