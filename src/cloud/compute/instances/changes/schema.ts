import { type Static, Type } from 'typebox';
import { TagsPatchInput } from '../../../../lib/tags.ts';
import { Input, nullable, Query, ResourceName } from '../../../../lib/wire.ts';
import { ACTIONS, type ActionName } from './actions.ts';

export const UpdateInstance = Input(
  'UpdateInstance',
  { name: Type.Optional(ResourceName('Name')), tags: Type.Optional(TagsPatchInput) },
  { name: 'web-2', tags: { env: 'staging', owner: null } },
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
  Input('StartInstance', { action: Type.Literal(START), ...StartFields }),
  Input('PlainInstanceAction', { action: Type.Enum(OTHERS, { type: 'string' }) }),
] as const;

export const InstanceAction = Type.Unsafe<{ action: ActionName; activate_profile?: boolean | null }>({
  type: 'object',
  title: 'InstanceAction',
  discriminator: { propertyName: 'action' },
  required: ['action'],
  oneOf: actions,
  examples: [{ action: 'reboot' }],
});

export const ChangeFlavor = Input(
  'ChangeFlavor',
  {
    flavor_id: Type.String({ minLength: 1, maxLength: 255, description: 'Flavor ID' }),
  },
  { flavor_id: 'g1-standard-2-4' },
);

export const AvailableFlavorsQuery = Query({
  include_prices: Type.Optional(Type.Boolean({ default: false, description: 'Include prices' })),
});
