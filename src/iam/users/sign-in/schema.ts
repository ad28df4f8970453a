import { type Static, Type } from 'typebox';
import * as wire from '../../../lib/wire.ts';
import { ROLES } from '../../../requests/principal.ts';

const NAMES = Object.values(ROLES).map(({ name }) => name);

const second_factor = wire.Choice(['optional', 'required'], {
  description:
    'Whether users need a second factor to log in with their password. API tokens, and resellers who act for a user, need none.',
  examples: ['required'],
});
const roles = Type.Array(wire.Choice(NAMES, { examples: ['Administrators'] }), {
  maxItems: NAMES.length,
  uniqueItems: true,
  description: 'Of which users it is required, by their role in the account. Empty: of everybody.',
});

export const SignInPolicy = wire.Named('SignInPolicy', { second_factor, roles });
export type SignInPolicy = Static<typeof SignInPolicy>;
export const SetSignInPolicy = wire.Input(
  'SetSignInPolicy',
  { second_factor, roles: Type.Optional(roles) },
  { second_factor: 'required', roles: [] },
);
export type SetSignInPolicy = Static<typeof SetSignInPolicy>;

export const PolicyParams = Type.Object({ client_id: wire.IntegerId('Account') });
export const ResetParams = Type.Object({ user_id: wire.IntegerId('User ID') });
