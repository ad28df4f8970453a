import { type Static, Type } from 'typebox';
import { MetadataList, newTags } from '../../../lib/legacy-metadata.ts';
import { ResourceFields, Uuid, UuidInput } from '../../../lib/resource-fields.ts';
import { TagsPatchInput, tagQuery } from '../../../lib/tags.ts';
import { Choice, Input, listOf, listQuery, Named, nullable, PlaceParams, Query } from '../../../lib/wire.ts';

export const FLOATING_IP_STATUSES = ['ACTIVE', 'DOWN', 'ERROR'] as const;

export const FloatingIpAnswer = Named('FloatingIp', {
  id: Uuid('Floating IP ID'),
  floating_ip_address: Type.String({ examples: ['198.18.0.2'] }),
  fixed_ip_address: nullable(Type.String({ description: 'Address of the port that it is assigned to' })),
  port_id: nullable(Type.String({ description: 'Port that it is assigned to' })),
  router_id: nullable(
    Type.String({
      description:
        'Router that leads out of the subnet; null if it is not assigned, or where the platform routes by itself',
    }),
  ),
  status: nullable(Choice(FLOATING_IP_STATUSES, '`ACTIVE` while assigned to a port, else `DOWN`')),
  ...ResourceFields,
  ...MetadataList,
});
export type FloatingIpAnswer = Static<typeof FloatingIpAnswer>;
export const FreeFloatingIpList = listOf(FloatingIpAnswer, 'FreeFloatingIpList');

export const FloatingIpListQuery = Query({
  ...listQuery(),
  port_ids: Type.Optional(
    Type.Array(UuidInput('Port that it is assigned to'), {
      maxItems: 100,
      description: 'Only those assigned to one of these ports; repeat for several',
    }),
  ),
  status: Type.Optional(Choice(FLOATING_IP_STATUSES)),
  ...tagQuery,
});
export type FloatingIpListQuery = Static<typeof FloatingIpListQuery>;

const fixed_ip_address = Type.Optional(
  nullable(
    Type.String({
      maxLength: 64,
      description: 'Address of the port; defaults to its first free IPv4 address',
      examples: ['10.0.0.5'],
    }),
  ),
);

export const CreateFloatingIp = Input(
  'CreateFloatingIp',
  {
    port_id: Type.Optional(nullable(UuidInput('Port to assign it to'))),
    fixed_ip_address,
    ...newTags,
  },
  { tags: { env: 'production' } },
);
export type CreateFloatingIp = Static<typeof CreateFloatingIp>;

export const AssignFloatingIp = Input(
  'AssignFloatingIp',
  { port_id: UuidInput('Port to assign it to'), fixed_ip_address },
  { port_id: 'f5e2fa8d-9a1b-4c3d-8e7f-6a5b4c3d2e1f' },
);
export type AssignFloatingIp = Static<typeof AssignFloatingIp>;

export const UpdateFloatingIpTags = Input(
  'UpdateFloatingIpTags',
  { tags: Type.Optional(TagsPatchInput) },
  { tags: { env: 'staging', owner: null } },
);

export const UpdateFloatingIp = Input(
  'UpdateFloatingIp',
  {
    port_id: Type.Optional(nullable(UuidInput('Port to assign it to; null unassigns it'))),
    fixed_ip_address,
    tags: Type.Optional(TagsPatchInput),
  },
  { port_id: null, tags: { env: 'staging', owner: null } },
);
export type UpdateFloatingIp = Static<typeof UpdateFloatingIp>;

export const ConvertFloatingIp = Input(
  'ConvertFloatingIp',
  { target_type: Type.Literal('reserved_fixed_ip', { description: 'Type to convert to' }) },
  { target_type: 'reserved_fixed_ip' },
);

export const FloatingIpParams = PlaceParams({ floating_ip_id: 'Floating IP ID' });
