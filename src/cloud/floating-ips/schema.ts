import { type Static, Type } from 'typebox';
import { nullable } from '../../lib/nullable.ts';
import { ResourceFields, Uuid, UuidInput } from '../../lib/resource-fields.ts';
import { tagQuery } from '../../lib/tag-query.ts';
import { TagsInput } from '../../lib/tags-input.ts';
import { listOf, listQuery, ProjectRegion } from '../../lib/wire.ts';

export const FLOATING_IP_STATUSES = ['ACTIVE', 'DOWN', 'ERROR'] as const;

export const FloatingIpAnswer = Type.Object(
  {
    id: Uuid('Floating IP ID'),
    floating_ip_address: Type.String({ examples: ['198.18.0.2'] }),
    fixed_ip_address: nullable(Type.String({ description: 'Address of the port that it leads to' })),
    port_id: nullable(Type.String({ description: 'Port that it leads to' })),
    router_id: nullable(Type.String({ description: 'Always null: no router is between' })),
    status: nullable(
      Type.Enum(FLOATING_IP_STATUSES, {
        type: 'string',
        description: '`ACTIVE` when it leads to a port, `DOWN` when it leads nowhere',
      }),
    ),
    ...ResourceFields,
  },
  { title: 'FloatingIp' },
);
export type FloatingIpAnswer = Static<typeof FloatingIpAnswer>;
export const FloatingIpList = listOf(FloatingIpAnswer, 'FloatingIpList');

export const FloatingIpListQuery = Type.Object(
  {
    ...listQuery(),
    status: Type.Optional(Type.Enum(FLOATING_IP_STATUSES, { type: 'string' })),
    ...tagQuery,
  },
  { additionalProperties: false },
);

const fixed_ip_address = Type.Optional(
  nullable(
    Type.String({
      maxLength: 64,
      description: 'Address of the port; needed only where the port has several',
      examples: ['10.0.0.5'],
    }),
  ),
);

export const CreateFloatingIp = Type.Object(
  {
    port_id: Type.Optional(nullable(UuidInput('Port that it is to lead to'))),
    fixed_ip_address,
    tags: Type.Optional(TagsInput),
  },
  { title: 'CreateFloatingIp', additionalProperties: false, examples: [{ tags: { env: 'production' } }] },
);
export type CreateFloatingIp = Static<typeof CreateFloatingIp>;

export const AssignFloatingIp = Type.Object(
  { port_id: UuidInput('Port that it is to lead to'), fixed_ip_address },
  {
    title: 'AssignFloatingIp',
    additionalProperties: false,
    examples: [{ port_id: 'f5e2fa8d-9a1b-4c3d-8e7f-6a5b4c3d2e1f' }],
  },
);
export type AssignFloatingIp = Static<typeof AssignFloatingIp>;

export const FloatingIpParams = Type.Object({
  ...ProjectRegion,
  floating_ip_id: Type.String({ description: 'Floating IP ID' }),
});
