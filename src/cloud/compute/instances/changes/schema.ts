import { type Static, Type } from 'typebox';
import { nullable } from '../../../../lib/nullable.ts';
import { TagsPatchInput } from '../../../../lib/tags-patch.ts';
import { ResourceName } from '../../../../lib/wire.ts';
import { ACTIONS, type ActionName } from './actions.ts';

export const UpdateInstance = Type.Object(
  { name: Type.Optional(ResourceName('Name')), tags: Type.Optional(TagsPatchInput) },
  {
    title: 'UpdateInstance',
    additionalProperties: false,
    examples: [{ name: 'web-2', tags: { env: 'staging', owner: null } }],
  },
);
export type UpdateInstance = Static<typeof UpdateInstance>;

const START = 'start';
const OTHERS = (Object.keys(ACTIONS) as ActionName[]).filter((name) => name !== START);
export const StartFields = {
  activate_profile: Type.Optional(
    nullable(
      Type.Boolean({
        default: true,
        description:
          'Whether to activate DDoS protection as well; has no effect: profiles are switched by themselves',
      }),
    ),
  ),
};
const actions = [
  Type.Object(
    { action: Type.Literal(START), ...StartFields },
    { title: 'StartInstance', additionalProperties: false },
  ),
  Type.Object(
    { action: Type.Enum(OTHERS, { type: 'string' }) },
    { title: 'PlainInstanceAction', additionalProperties: false },
  ),
] as const;

export const InstanceAction = Type.Unsafe<{ action: ActionName; activate_profile?: boolean | null }>({
  type: 'object',
  title: 'InstanceAction',
  discriminator: { propertyName: 'action' },
  required: ['action'],
  oneOf: actions,
  examples: [{ action: 'reboot' }],
});

export const ChangeFlavor = Type.Object(
  {
    flavor_id: Type.String({ minLength: 1, maxLength: 255, description: 'Flavor ID' }),
  },
  {
    title: 'ChangeFlavor',
    additionalProperties: false,
    examples: [{ flavor_id: 'g1-standard-2-4' }],
  },
);

export const AvailableFlavorsQuery = Type.Object(
  {
    include_prices: Type.Optional(Type.Boolean({ default: false, description: 'Include prices' })),
  },
  { additionalProperties: false },
);
