import { type Static, Type } from 'typebox';
import { newTags } from '../../../lib/legacy-metadata.ts';
import { PlaceFields, TagAnswer, TaskFields, Uuid, UuidInput } from '../../../lib/resource-fields.ts';
import { MAX_QUERY_JSON } from '../../../lib/tags.ts';
import { versioned } from '../../../lib/versioned.ts';
import { SNAPSHOT_TYPES } from '../../../lib/volume-types.ts';
import * as wire from '../../../lib/wire.ts';
import { VolumeTypeName } from '../../ground/catalog/schema.ts';
import { FILTERED_STATUSES, INSTANCE_STATUSES, VM_STATES } from '../../ground/hosts/states.ts';
import { IpFamilyInput, LegacyIpFamily } from '../../network/addresses/schema.ts';
import { AttachmentTag, VolumeSize } from '../../storage/volumes/schema.ts';
import { legacyBlankVolume, legacyCreation, legacyExistingVolume, legacyNewFloatingIp } from './creation/legacy.ts';
import { NameTemplate } from './creation/names.ts';
import { legacyInstanceFields, legacyInstanceQuery } from './legacy-answer.ts';

export const MAX_INTERFACES = 16;
/** Disks are named by one letter each. */
export const MAX_VOLUMES = 25;
/** As in Nova. */
const MAX_USER_DATA = 65_535;
const MAX_GROUPS = 10;

const GroupIds = wire.nullable(
  Type.Array(wire.Input('SecurityGroupId', { id: UuidInput('Security group ID') }), {
    maxItems: MAX_GROUPS,
    description: "Security groups; defaults to the project's default group",
  }),
);
const floatingIpForms = [
  wire.Input('NewFloatingIpOfInterface', { source: Type.Literal('new'), ...legacyNewFloatingIp }),
  wire.Input('ExistingFloatingIpOfInterface', {
    source: Type.Literal('existing'),
    existing_floating_id: UuidInput('Floating IP ID'),
  }),
] as const;
type FloatingIpOfInterface = Static<(typeof floatingIpForms)[number]>;
export const interfaceFields = {
  interface_name: wire.OptionalTextOrNull({ minLength: 1, maxLength: 37, examples: ['eth0'] }),
  security_groups: Type.Optional(GroupIds),
};

const interfaces = [
  Type.Object(
    { type: Type.Literal('external'), ip_family: IpFamilyInput, ...interfaceFields },
    {
      title: 'NewExternalInterface',
      additionalProperties: false,
      description: 'Interface with a public address',
    },
  ),
  wire.Input('NewSubnetInterface', {
    type: Type.Literal('subnet'),
    network_id: UuidInput('Network ID'),
    subnet_id: UuidInput('Subnet ID'),
    ip_family: LegacyIpFamily,
    floating_ip: Type.Optional(InterfaceFloatingIp()),
    ...interfaceFields,
  }),
  Type.Object(
    {
      type: Type.Literal('any_subnet'),
      network_id: UuidInput('Network ID'),
      ip_address: wire.OptionalTextOrNull({ maxLength: 64, description: 'Free address to use' }),
      ip_family: IpFamilyInput,
      floating_ip: Type.Optional(InterfaceFloatingIp()),
      ...interfaceFields,
    },
    {
      title: 'NewAnySubnetInterface',
      additionalProperties: false,
      description: 'Interface in the subnet with the most free addresses',
    },
  ),
  Type.Object(
    {
      type: Type.Literal('reserved_fixed_ip'),
      port_id: UuidInput('Port of the reserved fixed IP'),
      ip_family: LegacyIpFamily,
      floating_ip: Type.Optional(InterfaceFloatingIp()),
      ...interfaceFields,
    },
    {
      title: 'NewReservedIpInterface',
      additionalProperties: false,
      description: 'Interface with a reserved fixed IP',
    },
  ),
] as const;
type SpecificSubnet = Static<(typeof interfaces)[1]>;
/** A subnet implies its network. Only a creation has to name the network as well. */
export type NewInterface =
  | Exclude<Static<(typeof interfaces)[number]>, SpecificSubnet>
  | (Omit<SpecificSubnet, 'network_id'> & Partial<Pick<SpecificSubnet, 'network_id'>>);

export function InterfaceFloatingIp() {
  return Type.Unsafe<FloatingIpOfInterface | null>({
    type: ['object', 'null'],
    discriminator: { propertyName: 'source' },
    required: ['source'],
    oneOf: floatingIpForms,
    description: 'Floating IP for the interface',
  });
}

const attachment = {
  attachment_tag: Type.Optional(AttachmentTag),
  delete_on_termination: wire.OptionalFlag({ default: false }),
  ...newTags,
};
export const BootIndex = Type.Integer({
  minimum: -1000,
  maximum: 1000,
  description: 'Boot order: 0 boots first, a negative number never boots',
});
const bootable = { ...attachment, boot_index: Type.Optional(BootIndex) };
const made = { name: Type.Optional(wire.ResourceName('Name')), type_name: Type.Optional(VolumeTypeName) };

const volumes = [
  wire.Input('NewInstanceEmptyVolume', {
    source: Type.Literal('new-volume'),
    size: VolumeSize,
    ...made,
    ...attachment,
    ...legacyBlankVolume,
  }),
  wire.Input('NewInstanceVolumeFromImage', {
    source: Type.Literal('image'),
    image_id: UuidInput('Image ID'),
    size: Type.Optional(VolumeSize),
    ...made,
    ...bootable,
  }),
  wire.Input('NewInstanceVolumeFromSnapshot', {
    source: Type.Literal('snapshot'),
    snapshot_id: UuidInput('Snapshot ID'),
    size: VolumeSize,
    ...made,
    type_name: wire.OptionalChoice(SNAPSHOT_TYPES, 'Defaults to that of the snapshot'),
    ...bootable,
  }),
  Type.Object(
    {
      source: Type.Literal('apptemplate'),
      apptemplate_id: Type.String({ maxLength: 255 }),
      size: Type.Optional(VolumeSize),
      ...made,
      ...bootable,
    },
    { title: 'NewInstanceVolumeFromTemplate', additionalProperties: false, description: 'Not supported' },
  ),
  wire.Input('NewInstanceExistingVolume', {
    source: Type.Literal('existing-volume'),
    volume_id: UuidInput('Volume ID'),
    ...bootable,
    ...legacyExistingVolume,
  }),
] as const;
export type NewInstanceVolume = Static<(typeof volumes)[number]>;
export const VOLUME_SOURCES = volumes.map(({ properties }) => properties.source.const);

export const NewInterfaceSchema = Type.Unsafe<NewInterface>({
  type: 'object',
  title: 'NewInterface',
  discriminator: { propertyName: 'type' },
  required: ['type'],
  oneOf: interfaces,
});
const NewInstanceVolumeSchema = Type.Unsafe<NewInstanceVolume>({
  type: 'object',
  title: 'NewInstanceVolume',
  discriminator: { propertyName: 'source' },
  required: ['source'],
  oneOf: volumes,
});

export const CreateInstanceSchema = wire.Input(
  'CreateInstance',
  {
    flavor: Type.String({ minLength: 1, maxLength: 255, description: 'Flavor ID', examples: ['g1-standard-1-2'] }),
    interfaces: Type.Array(NewInterfaceSchema, { minItems: 1, maxItems: MAX_INTERFACES }),
    volumes: Type.Array(NewInstanceVolumeSchema, { minItems: 1, maxItems: MAX_VOLUMES }),
    name: Type.Optional(wire.ResourceName('Name')),
    name_template: Type.Optional(NameTemplate),
    ssh_key_name: wire.OptionalTextOrNull({ maxLength: 255 }),
    password: wire.OptionalText({ maxLength: 1024, description: 'Empty for none, as with username and user_data' }),
    username: wire.OptionalText({ maxLength: 255, description: 'Not for Windows' }),
    user_data: wire.OptionalText({
      maxLength: MAX_USER_DATA,
      pattern: '^[A-Za-z0-9+/\\r\\n]*(={1,2}[\\r\\n]*)?$',
      rule: 'Must be base64-encoded.',
      description: 'User data for the first boot, base64-encoded; ignored if a password is set',
    }),
    security_groups: Type.Optional(GroupIds),
    servergroup_id: Type.Optional(UuidInput('Placement group to put it into; not for bare metal')),
    ...newTags,
    configuration: Type.Optional(
      Type.Unsafe<object | null>({
        type: ['object', 'null'],
        description: 'Settings for an application template: accepted, and not used',
        examples: [{ domain: 'shop.example' }],
      }),
    ),
    allow_app_ports: wire.OptionalFlag({
      description: 'Ignored: only application templates have ports of applications',
    }),
    ...legacyCreation,
  },
  {
    name: 'web-1',
    flavor: 'g1-standard-1-2',
    interfaces: [{ type: 'external' }],
    volumes: [{ source: 'image', image_id: 'd30931af-8845-4913-a690-021a990a917f', size: 20 }],
  },
);
export type CreateInstance = Omit<Static<typeof CreateInstanceSchema>, keyof typeof legacyCreation>;

const InstanceFlavor = wire.Named('FlavorOfInstance', {
  flavor_id: Type.String(),
  flavor_name: Type.String(),
  vcpus: Type.Integer(),
  ram: Type.Integer({ description: 'Memory in MiB' }),
  architecture: Type.String(),
  os_type: Type.String(),
  hardware_description: Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
  }),
  resource_class: wire.OptionalText({ description: 'Hardware type' }),
});

const Address = wire.Named('InstanceAddress', {
  type: wire.Choice(['fixed', 'floating']),
  addr: Type.String({ examples: ['10.0.0.2'] }),
  interface_name: wire.OptionalTextOrNull({ description: 'For fixed addresses only' }),
  subnet_id: Type.Optional(Uuid('Subnet ID, only when a single instance is read')),
  subnet_name: wire.OptionalText({ description: 'Only when a single instance is read' }),
});
type Address = Static<typeof Address>;

export const InstanceAnswer = wire.Named('Instance', {
  id: Uuid('Instance ID'),
  name: Type.String(),
  instance_description: wire.nullable(Type.String()),
  ...PlaceFields,
  created_at: wire.Timestamp(),
  status: wire.Choice(INSTANCE_STATUSES),
  vm_state: wire.Choice(VM_STATES),
  task_state: wire.TextOrNull({ description: 'Task in progress on the instance' }),
  ...TaskFields,
  flavor: InstanceFlavor,
  addresses: Type.Unsafe<Record<string, Address[]>>({
    type: 'object',
    additionalProperties: Type.Array(Address),
    description: 'Addresses by network name',
  }),
  fixed_ip_assignments: Type.Array(
    wire.Named('FixedIpAssignment', {
      ip_address: Type.String(),
      subnet_id: Uuid('Subnet ID'),
      external: Type.Boolean(),
    }),
  ),
  security_groups: Type.Array(wire.Named('SecurityGroupName', { name: Type.String() }), {
    description: 'Security groups on any of its ports',
  }),
  volumes: Type.Array(wire.Named('VolumeOfInstance', { id: Uuid('Volume ID'), delete_on_termination: Type.Boolean() })),
  ssh_key_name: wire.nullable(Type.String()),
  tags: Type.Array(TagAnswer, { description: 'Tags' }),
  blackhole_ports: Type.Array(Type.Unknown(), { description: 'Addresses under attack; always empty' }),
  ddos_profile: Type.Null({ description: 'Always null: DDoS profiles are in a list of their own' }),
  instance_isolation: Type.Null({ description: 'Always null: instances are never isolated' }),
  ...legacyInstanceFields,
});
export type InstanceAnswer = Static<typeof InstanceAnswer>;
export const InstanceList = wire.listOf(InstanceAnswer, 'InstanceList');

const text = (description: string) => wire.OptionalText({ maxLength: 255, description });
const flag = (description: string, value: boolean) => wire.OptionalFlag({ default: value, description });

export const InstanceListQuery = wire.Query({
  ...wire.listQuery(),
  name: text('Part of the name'),
  flavor_id: text('Exact flavor ID'),
  flavor_prefix: text('Start of the flavor ID'),
  exclude_flavor_prefix: text('Exclude flavor IDs that start with this'),
  exclude_secgroup: text('Exclude instances that have a security group with this name'),
  ip: text('Part of an IPv4 address, fixed or floating'),
  uuid: wire.OptionalText({ maxLength: 36, description: 'Part of the ID' }),
  status: wire.OptionalChoice(FILTERED_STATUSES),
  'changes-since': wire.OptionalText({ format: 'date-time', description: 'Changed at this time or later' }),
  'changes-before': wire.OptionalText({ format: 'date-time', description: 'Changed at this time or earlier' }),
  tag_value: wire.OptionalList(Type.String({ maxLength: 255 }), {
    maxItems: 64,
    description: 'Tag value that must be present; repeat for several',
  }),
  tag_key_value: wire.OptionalText({
    maxLength: MAX_QUERY_JSON,
    description: 'JSON object of tag keys and values; all must match',
    examples: ['{"env":"production"}'],
  }),
  ...legacyInstanceQuery,
  include_k8s: flag('Include worker nodes of clusters', true),
  include_baremetal: flag('Include bare metal machines', false),
  include_ai: flag('Include machines of AI clusters; this list never has any', false),
  only_with_fixed_external_ip: flag('Only instances with a fixed public address', false),
  available_floating: flag('Only instances with an address that has no floating IP yet', false),
  only_isolated: flag('Only isolated instances; no instance is ever isolated', false),
  with_ddos: flag('Has no effect: DDoS profiles are in a list of their own', false),
  profile_name: text('Name of the DDoS profile; requires with_ddos'),
  protection_status: wire.OptionalChoice(
    ['Active', 'Queued', 'Error'],
    'Status of the DDoS profile; requires with_ddos',
  ),
  type_ddos_profile: wire.OptionalChoice(['basic', 'advanced'], 'Type of the DDoS profile; requires with_ddos'),
  with_interfaces_name: flag('Include the names of interfaces', false),
  order_by: wire.OptionalChoice(['created.asc', 'created.desc', 'name.asc', 'name.desc', 'status.asc', 'status.desc'], {
    default: 'created.desc',
  }),
});
export type InstanceListQuery = Static<typeof InstanceListQuery>;

export const DeleteInstanceQuery = wire.Query({
  volumes: Type.Optional(wire.IdList('Volumes to delete as well')),
  floatings: Type.Optional(wire.IdList('Floating IPs to delete as well')),
  reserved_fixed_ips: Type.Optional(wire.IdList('Reserved fixed IPs to delete as well')),
  delete_floatings: wire.OptionalFlag({
    default: false,
    description: "Delete all floating IPs as well; can't be combined with floatings",
  }),
});
export type DeleteInstanceQuery = Static<typeof DeleteInstanceQuery>;

export const InstanceParams = wire.PlaceParams({ instance_id: 'Instance ID' });
export const VERSIONED_INSTANCE = versioned('instance');

const NetworkPort = wire.Named('NetworkPort', {
  id: Uuid('Port ID'),
  name: Type.String({ examples: ['port-4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a'] }),
  security_groups: Type.Array(
    wire.Named('NetworkPortSecurityGroup', { id: Uuid('Security group ID'), name: Type.String() }),
  ),
});
export const NetworkPortList = wire.listOf(NetworkPort, 'NetworkPortList');
