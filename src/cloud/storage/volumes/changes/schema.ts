import { type Static, Type } from 'typebox';
import { UuidInput } from '../../../../lib/resource-fields.ts';
import { TagsPatchInput } from '../../../../lib/tags.ts';
import { Choice, Input, ResourceName } from '../../../../lib/wire.ts';
import { AttachmentTag, VolumeSize } from '../schema.ts';

export const UpdateVolume = Input(
  'UpdateVolume',
  { name: Type.Optional(ResourceName('Name')), tags: Type.Optional(TagsPatchInput) },
  { name: 'data', tags: { env: 'test' } },
);
export type UpdateVolume = Static<typeof UpdateVolume>;

export const ExtendVolume = Input('ExtendVolume', { size: VolumeSize }, { size: 20 });
export type ExtendVolume = Static<typeof ExtendVolume>;

export const RetypeVolume = Input(
  'RetypeVolume',
  { volume_type: Choice(['ssd_hiiops', 'standard'], { examples: ['ssd_hiiops'] }) },
  { volume_type: 'ssd_hiiops' },
);
export type RetypeVolume = Static<typeof RetypeVolume>;

const SOME_INSTANCE = 'a7e7e8d6-0bf7-4ac9-8170-831b47ee2ba9';

export const AttachVolume = Input(
  'AttachVolume',
  { instance_id: UuidInput('Instance ID'), attachment_tag: Type.Optional(AttachmentTag) },
  { instance_id: SOME_INSTANCE },
);
export type AttachVolume = Static<typeof AttachVolume>;

export const DetachVolume = Input(
  'DetachVolume',
  { instance_id: UuidInput('Instance ID') },
  { instance_id: SOME_INSTANCE },
);
export type DetachVolume = Static<typeof DetachVolume>;
