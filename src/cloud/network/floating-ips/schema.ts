import { type Static, Type } from 'typebox';
import { MetadataList, newTags } from '../../../lib/legacy-metadata.ts';
import { ResourceFields, Uuid, UuidInput } from '../../../lib/resource-fields.ts';
import { TagsPatchInput, tagQuery } from '../../../lib/tags.ts';
import * as wire from '../../../lib/wire.ts';

export const FLOATING_IP_STATUSES = ['ACTIVE', 'DOWN', 'ERROR'] as const;

export const FloatingIpAnswer = wire.Named('FloatingIp', {
  id: Uuid('Floating IP ID'),
  floating_ip_address: Type.String({ examples: ['198.18.0.2'] }),
  fixed_ip_address: wire.TextOrNull({ description: 'Address of the port that it is assigned to' }),
  port_id: wire.TextOrNull({ description: 'Port that it is assigned to' }),
  router_id: wire.TextOrNull({
    description:
      'Router that leads out of the subnet; null if it is not assigned, or where the platform routes by itself',
  }),
  status: wire.nullable(wire.Choice(FLOATING_IP_STATUSES, '`ACTIVE` while assigned to a port, else `DOWN`')),
  ...ResourceFields,
  ...MetadataList,
});
export type FloatingIpAnswer = Static<typeof FloatingIpAnswer>;
export const FreeFloatingIpList = wire.listOf(FloatingIpAnswer, 'FreeFloatingIpList');

export const FloatingIpListQuery = wire.Query({
  ...wire.listQuery(),
  port_ids: wire.OptionalList(UuidInput('Port that it is assigned to'), {
    maxItems: 100,
    description: 'Only those assigned to one of these ports; repeat for several',
  }),
  status: wire.OptionalChoice(FLOATING_IP_STATUSES),
  ...tagQuery,
});
export type FloatingIpListQuery = Static<typeof FloatingIpListQuery>;

const fixed_ip_address = wire.OptionalTextOrNull({
  maxLength: 64,
  description: 'Address of the port; defaults to its first free IPv4 address',
  examples: ['10.0.0.5'],
});

export const CreateFloatingIp = wire.Input(
  'CreateFloatingIp',
  {
    port_id: Type.Optional(wire.nullable(UuidInput('Port to assign it to'))),
    fixed_ip_address,
    ...newTags,
  },
  { tags: { env: 'production' } },
);
export type CreateFloatingIp = Static<typeof CreateFloatingIp>;

export const AssignFloatingIp = wire.Input(
  'AssignFloatingIp',
  { port_id: UuidInput('Port to assign it to'), fixed_ip_address },
  { port_id: 'f5e2fa8d-9a1b-4c3d-8e7f-6a5b4c3d2e1f' },
);
export type AssignFloatingIp = Static<typeof AssignFloatingIp>;

export const UpdateFloatingIpTags = wire.Input(
  'UpdateFloatingIpTags',
  { tags: Type.Optional(TagsPatchInput) },
  { tags: { env: 'staging', owner: null } },
);

export const UpdateFloatingIp = wire.Input(
  'UpdateFloatingIp',
  {
    port_id: Type.Optional(wire.nullable(UuidInput('Port to assign it to; null unassigns it'))),
    fixed_ip_address,
    tags: Type.Optional(TagsPatchInput),
  },
  { port_id: null, tags: { env: 'staging', owner: null } },
);
export type UpdateFloatingIp = Static<typeof UpdateFloatingIp>;

export const ConvertFloatingIp = wire.Input(
  'ConvertFloatingIp',
  { target_type: Type.Literal('reserved_fixed_ip', { description: 'Type to convert to' }) },
  { target_type: 'reserved_fixed_ip' },
);

export const FloatingIpParams = wire.PlaceParams({ floating_ip_id: 'Floating IP ID' });
