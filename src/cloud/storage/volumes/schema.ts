import { type Static, Type } from 'typebox';
import { MetadataTwice, newTags } from '../../../lib/legacy-metadata.ts';
import { ResourceFields, Uuid, UuidInput } from '../../../lib/resource-fields.ts';
import { tagQuery } from '../../../lib/tags.ts';
import { MAX_VOLUME_GIB } from '../../../lib/volume-types.ts';
import * as wire from '../../../lib/wire.ts';
import { VolumeTypeName } from '../../ground/catalog/schema.ts';

/** States of a volume as Cinder names them. */
export const VOLUME_STATUSES = [
  'attaching',
  'available',
  'awaiting-transfer',
  'backing-up',
  'creating',
  'deleting',
  'detaching',
  'downloading',
  'error',
  'error_backing-up',
  'error_deleting',
  'error_extending',
  'error_restoring',
  'extending',
  'in-use',
  'maintenance',
  'reserved',
  'restoring-backup',
  'retyping',
  'reverting',
  'uploading',
] as const;
export type VolumeStatus = (typeof VOLUME_STATUSES)[number];

export const VolumeSize = Type.Integer({
  minimum: 1,
  maximum: MAX_VOLUME_GIB,
  description: 'Size in GiB',
  examples: [10],
});

export const AttachmentTag = Type.String({
  pattern: '^[^,/]{1,60}$',
  rule: 'Must be 1 to 60 characters without commas and slashes.',
  description: 'Tag of the disk that the instance can see',
});

const common = {
  name: wire.ResourceName('Name'),
  type_name: Type.Optional(VolumeTypeName),
  ...newTags,
  instance_id_to_attach_to: Type.Optional(UuidInput('Instance to attach it to')),
  attachment_tag: Type.Optional(AttachmentTag),
  lifecycle_policy_ids: wire.OptionalList(Type.Integer(), {
    // The next time of each of their schedules has to be found.
    maxItems: 10,
    description: 'Policies that take snapshots of it by their schedules',
  }),
};
const variants = [
  wire.Input('CreateEmptyVolume', { source: Type.Literal('new-volume'), size: VolumeSize, ...common }),
  wire.Input('CreateVolumeFromImage', {
    source: Type.Literal('image'),
    image_id: UuidInput('Image ID'),
    size: VolumeSize,
    ...common,
  }),
  wire.Input('CreateVolumeFromSnapshot', {
    source: Type.Literal('snapshot'),
    snapshot_id: UuidInput('Snapshot ID'),
    size: Type.Optional(VolumeSize),
    ...common,
  }),
] as const;

export type CreateVolume = Static<(typeof variants)[number]>;
export const CreateVolumeSchema = Type.Unsafe<CreateVolume>({
  type: 'object',
  title: 'CreateVolume',
  discriminator: { propertyName: 'source' },
  required: ['source'],
  oneOf: variants,
  examples: [{ source: 'new-volume', name: 'data', size: 10, type_name: 'standard' }],
});

const Attachment = wire.Named('VolumeAttachment', {
  attachment_id: Uuid('Attachment ID'),
  volume_id: Uuid('Volume ID'),
  server_id: wire.nullable(Uuid('Instance ID')),
  instance_name: wire.nullable(Type.String()),
  device: wire.TextOrNull({ examples: ['/dev/vda'] }),
  flavor_id: wire.nullable(Type.String()),
  attached_at: wire.nullable(wire.OffsetTimestamp()),
});

const Limits = wire.Named('VolumeLimits', {
  iops_base_limit: Type.Integer(),
  iops_burst_limit: Type.Integer(),
  MBps_base_limit: Type.Integer(),
  MBps_burst_limit: Type.Integer(),
});

export const VolumeAnswer = wire.Named('Volume', {
  id: Uuid('Volume ID'),
  name: Type.String(),
  size: Type.Integer({ description: 'Size in GiB', examples: [10] }),
  volume_type: VolumeTypeName,
  status: wire.Choice(VOLUME_STATUSES),
  bootable: Type.Boolean(),
  is_root_volume: Type.Boolean({ description: 'Whether an instance boots from it' }),
  attachments: Type.Array(Attachment),
  snapshot_ids: Type.Array(Uuid('Snapshot ID')),
  limiter_stats: wire.orNull(Limits),
  volume_image_metadata: Type.Unsafe<Record<string, string> | null>({
    type: ['object', 'null'],
    additionalProperties: { type: 'string' },
    description: 'Metadata of the image that it was created from',
  }),
  ...ResourceFields,
  ...MetadataTwice,
});
export type VolumeAnswer = Static<typeof VolumeAnswer>;
export const VolumeList = wire.listOf(VolumeAnswer, 'VolumeList');

export const VolumeListQuery = wire.Query({
  ...wire.listQuery(),
  instance_id: Type.Optional(UuidInput('Only volumes of this instance')),
  cluster_id: wire.OptionalText({ maxLength: 63, description: 'Only volumes of the nodes of this cluster' }),
  name_part: wire.OptionalText({ maxLength: 63, description: 'Part of the name' }),
  id_part: wire.OptionalText({ maxLength: 36, description: 'Part of the ID' }),
  bootable: Type.Optional(Type.Boolean()),
  has_attachments: Type.Optional(Type.Boolean()),
  ...tagQuery,
});
export type VolumeListQuery = Static<typeof VolumeListQuery>;

export const DeleteVolumeQuery = wire.Query({
  snapshots: Type.Optional(wire.IdList('Snapshots to delete with the volume. Those of other volumes are ignored')),
});

export const VolumeParams = wire.PlaceParams({ volume_id: 'Volume ID' });
