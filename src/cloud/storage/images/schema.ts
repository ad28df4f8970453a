import { type Static, Type } from 'typebox';
import { MAX_URL } from '../../../lib/file-url.ts';
import { MetadataTwice, newTags } from '../../../lib/legacy-metadata.ts';
import { PlaceFields, TagAnswer, TaskFields, UuidInput } from '../../../lib/resource-fields.ts';
import { TagsPatchInput, tagQuery } from '../../../lib/tags.ts';
import * as wire from '../../../lib/wire.ts';
import { imageFields, priceFields } from '../../ground/catalog/schema.ts';

const text = (description: string) =>
  wire.OptionalText({ maxLength: 255, description: `${description}, case-insensitive` });
const Architecture = wire.Choice(['aarch64', 'x86_64'], 'CPU architecture');

const BareMetal = Type.Boolean({ description: 'For bare metal machines' });
const Firmware = wire.Choice(['bios', 'uefi'], 'Firmware of the machine');
const Machine = wire.Choice(['i440', 'q35'], 'Chipset of the machine');

/** Settings of an image that a request may give at creation and change later. */
const settings = {
  os_type: wire.OptionalChoice(['linux', 'windows'], 'Operating system family'),
  ssh_key: wire.OptionalChoice(['allow', 'deny', 'required'], 'Whether an SSH key is allowed, denied or required'),
  is_baremetal: Type.Optional(BareMetal),
  hw_firmware_type: Type.Optional(Firmware),
  hw_machine_type: Type.Optional(Machine),
};

/** Of new images of either kind. */
const creation = {
  name: wire.ResourceName('Name'),
  architecture: Type.Optional(Architecture),
  ...settings,
  hw_firmware_type: Type.Optional(wire.nullable(Firmware)),
  hw_machine_type: Type.Optional(wire.nullable(Machine)),
  ...newTags,
};
const DEFAULTS = 'Defaults: os_type linux, architecture x86_64, ssh_key allow, firmware bios, machine q35.';

export const CreateImage = Type.Object(
  {
    ...creation,
    volume_id: UuidInput('Bootable volume to create the image from'),
    source: wire.OptionalChoice(['volume'], 'Only `volume` is supported'),
  },
  {
    title: 'CreateImage',
    description: DEFAULTS,
    additionalProperties: false,
    examples: [{ name: 'web server', volume_id: '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a', tags: { env: 'test' } }],
  },
);
export type CreateImage = Static<typeof CreateImage>;

export const EXAMPLE_URL = 'https://images.example.com/debian-13-x86_64.qcow2';
const given = (description: string) => wire.OptionalTextOrNull({ maxLength: 255, description });

export const DownloadImage = Type.Object(
  {
    ...creation,
    url: Type.String({
      minLength: 1,
      maxLength: MAX_URL,
      description:
        'Address of the image, http:// or https://. What may be secret in it (user, password, query) is encrypted and never shown.',
      examples: [EXAMPLE_URL],
    }),
    cow_format: wire.OptionalFlag({
      default: false,
      description: 'Whether volumes share its data; it can only be deleted after all of them',
    }),
    os_distro: given('Distribution, such as `debian`'),
    os_version: given('Version of the distribution'),
  },
  {
    title: 'DownloadImage',
    description: DEFAULTS,
    additionalProperties: false,
    examples: [{ name: 'debian 13', url: EXAMPLE_URL, os_distro: 'debian', os_version: '13' }],
  },
);
export type DownloadImage = Static<typeof DownloadImage>;

export const UpdateImage = wire.Input(
  'UpdateImage',
  {
    name: Type.Optional(wire.ResourceName('Name')),
    ...settings,
    is_baremetal: Type.Optional(wire.nullable(BareMetal)),
    tags: Type.Optional(TagsPatchInput),
  },
  { name: 'web server 2', ssh_key: 'required', tags: { env: 'test' } },
);
export type UpdateImage = Static<typeof UpdateImage>;

const { display_order, created_at: _, ...known } = imageFields;

export const ImageAnswer = Type.Object(
  {
    ...known,
    os_distro: Type.String({ description: 'Distribution, such as `debian`; empty if not known' }),
    os_version: Type.String({ description: 'Version of the distribution; empty if not known' }),
    display_order: wire.nullable(display_order),
    status: Type.String({ description: 'Status of the image', examples: ['active'] }),
    visibility: wire.Choice(
      ['private', 'public', 'shared'],
      '`public`: offered by the platform. `private`: belongs to the project and visible only there.',
    ),
    ...priceFields,
    tags_v2: Type.Array(TagAnswer, { description: 'Tags' }),
    ...MetadataTwice,
    ...PlaceFields,
    ...TaskFields,
    created_at: wire.OffsetTimestamp(),
    updated_at: wire.OffsetTimestamp(),
  },
  { title: 'Image', description: 'An image for boot volumes.' },
);
export type ImageAnswer = Static<typeof ImageAnswer>;
export const ImageList = wire.listOf(ImageAnswer, 'ImageList');

const includePrices = wire.OptionalFlag({ default: false, description: 'Include prices' });

export const ImageParams = wire.PlaceParams({ image_id: 'Image ID' });
export const ImageQuery = wire.Query({ include_prices: includePrices });
export const ImageListQuery = wire.Query({
  ...wire.listQuery(),
  name: text('Part of the name'),
  os_distro: text('Distribution'),
  os_version: text('Version'),
  architecture: Type.Optional(Architecture),
  visibility: wire.OptionalChoice(['private', 'public', 'shared'], 'Owner of the images'),
  private: wire.OptionalText({ maxLength: 255, description: 'With any value, only images of the project' }),
  include_prices: includePrices,
  ...tagQuery,
});
export type ImageListQuery = Static<typeof ImageListQuery>;
