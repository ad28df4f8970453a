import { type Static, Type } from 'typebox';
import { UuidInput } from '../../../../lib/resource-fields.ts';
import { TagsInput } from '../../../../lib/tags.ts';
import * as wire from '../../../../lib/wire.ts';
import { VolumeTypeName } from '../../../ground/catalog/schema.ts';
import { exceededQuotasSchema } from '../../../ground/quotas/schema.ts';
import { AttachmentTag, VolumeSize } from '../../../storage/volumes/schema.ts';
import { anyInterface } from '../interfaces/schema.ts';
import { BootIndex, CreateInstanceSchema, MAX_INTERFACES, MAX_VOLUMES, VOLUME_SOURCES } from '../schema.ts';

/** A possible volume. Its fields are those of a creation, but only its source must be known yet. */
const PossibleVolume = wire.Input('PossibleVolume', {
  source: wire.Choice(VOLUME_SOURCES),
  size: Type.Optional(wire.nullable(VolumeSize)),
  type_name: Type.Optional(wire.nullable(VolumeTypeName)),
  image_id: Type.Optional(wire.nullable(UuidInput('Image ID'))),
  snapshot_id: Type.Optional(wire.nullable(UuidInput('Snapshot ID'))),
  volume_id: Type.Optional(wire.nullable(UuidInput('Volume ID'))),
  apptemplate_id: wire.OptionalTextOrNull({ maxLength: 255 }),
  name: Type.Optional(wire.nullable(wire.ResourceName('Name'))),
  boot_index: Type.Optional(wire.nullable(BootIndex)),
  attachment_tag: Type.Optional(AttachmentTag),
  delete_on_termination: Type.Optional(Type.Boolean()),
  tags: Type.Optional(TagsInput),
});
export type PossibleVolume = Static<typeof PossibleVolume>;

export const FlavorsForVolumes = Type.Object(
  { volumes: Type.Array(PossibleVolume, { minItems: 1, maxItems: MAX_VOLUMES }) },
  {
    title: 'FlavorsForVolumes',
    description: 'Volumes as in an instance creation, as far as they are known.',
    additionalProperties: false,
    examples: [{ volumes: [{ source: 'image', image_id: 'd30931af-8845-4913-a690-021a990a917f', size: 20 }] }],
  },
);
export type FlavorsForVolumes = Static<typeof FlavorsForVolumes>;

const MAX_MACHINES = 1000;

const PossibleInterface = wire.Input('PossibleInterface', anyInterface);

export const CheckInstanceLimits = Type.Object(
  {
    flavor: Type.Optional(CreateInstanceSchema.properties.flavor),
    names: wire.OptionalList(wire.ResourceName('Name'), {
      minItems: 1,
      maxItems: MAX_MACHINES,
      description: 'One name for each instance; without names and templates, one instance is assumed',
    }),
    name_templates: wire.OptionalList(wire.TextOrNull({ maxLength: 255 }), {
      maxItems: MAX_MACHINES,
      description: 'Each entry counts as one more instance; its value is ignored',
    }),
    interfaces: wire.OptionalList(PossibleInterface, { maxItems: MAX_INTERFACES }),
    volumes: wire.OptionalList(PossibleVolume, { maxItems: MAX_VOLUMES }),
  },
  {
    title: 'CheckInstanceLimits',
    description: 'Instances to check, each with these interfaces and volumes.',
    additionalProperties: false,
    examples: [
      {
        flavor: 'g1-standard-1-2',
        names: ['web-1', 'web-2'],
        interfaces: [{ type: 'external' }],
        volumes: [{ source: 'new-volume', size: 10 }],
      },
    ],
  },
);
export type CheckInstanceLimits = Static<typeof CheckInstanceLimits>;

export const ExceededInstanceQuotas = exceededQuotasSchema('ExceededInstanceQuotas', [
  'floating_count',
  'vm_count',
  'volume_count',
]);

const NoTemplates = Type.Null({ description: 'Always null: no templates are prescribed' });
export const NamingRestrictions = wire.Named('InstanceNamingRestrictions', {
  custom_name_allowed: Type.Boolean({ description: 'Whether instances may have any name' }),
  name_templates_limited: Type.Boolean({ description: 'Whether only certain templates are allowed' }),
  allowed_name_templates: NoTemplates,
  allowed_name_win_templates: NoTemplates,
  allowed_bm_name_templates: NoTemplates,
  allowed_bm_name_win_templates: NoTemplates,
});
