import { type Static, Type } from 'typebox';
import { TagsInput } from '../../lib/tags-input.ts';
import { TagsPatchInput } from '../../lib/tags-patch.ts';
import { ResourceName } from '../../lib/wire.ts';

export const CreateNetwork = Type.Object(
  {
    name: ResourceName('Name'),
    create_router: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Taken and without effect: the platform routes every subnet with a gateway',
      }),
    ),
    type: Type.Optional(
      Type.Enum(['vlan', 'vxlan'], {
        type: 'string',
        default: 'vxlan',
        description: 'How the network is kept apart from others',
      }),
    ),
    tags: Type.Optional(TagsInput),
  },
  {
    title: 'CreateNetwork',
    additionalProperties: false,
    examples: [{ name: 'backend', create_router: false, type: 'vxlan', tags: { env: 'production' } }],
  },
);
export type CreateNetwork = Static<typeof CreateNetwork>;

export const UpdateNetwork = Type.Object(
  { name: Type.Optional(ResourceName('Name')), tags: Type.Optional(TagsPatchInput) },
  {
    title: 'UpdateNetwork',
    additionalProperties: false,
    examples: [{ name: 'backend', tags: { env: 'staging', owner: null } }],
  },
);
export type UpdateNetwork = Static<typeof UpdateNetwork>;
