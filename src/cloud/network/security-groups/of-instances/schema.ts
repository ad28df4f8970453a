import { type Static, Type } from 'typebox';
import { Uuid, UuidInput } from '../../../../lib/resource-fields.ts';
import { Input, listOf, Named, nullable, OptionalList, PlaceParams } from '../../../../lib/wire.ts';

/** Our own limits. None are published. */
const MAX_PORTS = 64;
const MAX_NAMES = 64;

const GroupName = Type.String({
  maxLength: 255,
  description: 'Name of a security group',
  examples: ['default'],
});

const PortGroups = Input('PortSecurityGroupNames', {
  port_id: nullable(UuidInput('Port of the instance; null for all ports')),
  security_group_names: Type.Array(GroupName, { maxItems: MAX_NAMES }),
});

export const assignGroupsSchema = Type.Object(
  {
    name: Type.Optional(GroupName),
    ports_security_group_names: OptionalList(PortGroups, {
      maxItems: MAX_PORTS,
      description: "Groups for single ports; can't be combined with name",
    }),
  },
  {
    title: 'AssignSecurityGroups',
    description: 'Either `name`, for all ports, or `ports_security_group_names`.',
    additionalProperties: false,
    examples: [{ ports_security_group_names: [{ port_id: null, security_group_names: ['default'] }] }],
  },
);
export type AssignGroups = Static<typeof assignGroupsSchema>;

export const instanceGroupListSchema = listOf(
  Named('InstanceSecurityGroup', {
    id: Uuid('Security group ID'),
    name: Type.String({ examples: ['default'] }),
  }),
  'InstanceSecurityGroupList',
);

export const GroupInstanceParams = PlaceParams({ instance_id: 'Instance ID' });
