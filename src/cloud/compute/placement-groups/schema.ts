import { type Static, Type } from 'typebox';
import { PlaceFields, Uuid } from '../../../lib/resource-fields.ts';
import { Choice, Input, listOf, listQuery, Named, PlaceParams, Query } from '../../../lib/wire.ts';

export const GROUP_POLICIES = ['affinity', 'anti-affinity', 'soft-anti-affinity'] as const;
export type GroupPolicy = (typeof GROUP_POLICIES)[number];

const Policy = Choice(GROUP_POLICIES, {
  description:
    'Whether the instances run on one host (`affinity`), each on another (`anti-affinity`), or on as many as there are (`soft-anti-affinity`)',
  examples: ['anti-affinity'],
});

export const CreatePlacementGroup = Input(
  'CreatePlacementGroup',
  {
    name: Type.String({
      pattern: '^[a-zA-Z0-9][a-zA-Z 0-9._\\-]{1,108}[a-zA-Z0-9._]$',
      rule: 'The name must be 3 to 110 characters long: letters, digits, spaces, dots, underscores and hyphens, beginning with a letter or digit and ending with a letter, digit, dot or underscore.',
      description: 'Name; several groups may have the same',
      examples: ['web servers'],
    }),
    policy: Policy,
  },
  { name: 'web servers', policy: 'anti-affinity' },
);
export type CreatePlacementGroup = Static<typeof CreatePlacementGroup>;

export const PlacementGroupAnswer = Named('PlacementGroup', {
  servergroup_id: Uuid('Placement group ID'),
  name: Type.String(),
  policy: Policy,
  instances: Type.Array(
    Named('InstanceInPlacementGroup', { instance_id: Uuid('Instance ID'), instance_name: Type.String() }),
    { description: 'The instances in it, by name' },
  ),
  ...PlaceFields,
});
export type PlacementGroupAnswer = Static<typeof PlacementGroupAnswer>;
export const PlacementGroupList = listOf(PlacementGroupAnswer, 'PlacementGroupList');

export const PlacementGroupListQuery = Query(listQuery());
export type PlacementGroupListQuery = Static<typeof PlacementGroupListQuery>;

export const PlacementGroupParams = PlaceParams({ servergroup_id: 'Placement group ID' });
