import { type Static, Type } from 'typebox';
import { Email } from '../../lib/email.ts';
import * as wire from '../../lib/wire.ts';
import { type Principal, ROLE_LIST } from '../../requests/principal.ts';
import { AuthTypes, CompanyName, Lang, PersonName, Phone, Role, User } from '../accounts/schema.ts';
import { roleOf, userTypeOf } from '../identity/schema.ts';
import { GivenPassword, NewPassword } from '../logins/schema.ts';
import { mayKnow } from './rights.ts';
import type { Membership, UserRow } from './store.ts';

export const MAX_LIMIT = 1000;

export const UserPage = wire.Named('UserPage', { ...wire.pageFields, results: Type.Array(User) });
export type UserPage = Static<typeof UserPage>;

export const UserListQuery = wire.Query({
  ...wire.pageQuery(MAX_LIMIT),
});
export type UserListQuery = Static<typeof UserListQuery>;

export const UpdateUser = wire.Input(
  'UpdateUser',
  {
    email: Type.Optional(
      Email(
        'Address to log in with. Users change their own with their password (`PUT`); apart from them, only the administrator of the platform can change it.',
      ),
    ),
    name: Type.Optional(PersonName('Name; null: none')),
    phone: Type.Optional(Phone('Telephone number; null: none')),
    lang: Type.Optional(Lang),
    auth_types: Type.Optional(AuthTypes),
    is_active: wire.OptionalFlag({
      description:
        "false blocks another user: in the caller's own account, for a reseller in all its clients' accounts, for the platform's administrator everywhere. Logins and API tokens stop working there at once.",
      examples: [true],
    }),
    id: wire.ReadOnly,
    company: wire.ReadOnly,
    reseller: wire.ReadOnly,
    client: wire.ReadOnly,
    groups: wire.ReadOnly,
    user_type: wire.ReadOnly,
    deleted: wire.ReadOnly,
    activated: wire.ReadOnly,
    sso_auth: wire.ReadOnly,
    two_fa: wire.ReadOnly,
    client_and_roles: wire.ReadOnly,
  },
  { name: 'Jane Doe', phone: '+12025550123', lang: 'de' },
);
export type UpdateUser = Static<typeof UpdateUser>;

export const ChangeEmail = wire.Input(
  'ChangeEmail',
  { new_email: Email('The new address'), password: GivenPassword("The user's password") },
  { new_email: 'jane@example.com', password: 'correct horse battery staple' },
);
export type ChangeEmail = Static<typeof ChangeEmail>;
export const ChangedEmail = wire.Named('ChangedEmail', { new_email: Type.String() });

const BY_ID_OR_NAME = `By id, by name or by both: ${ROLE_LIST}.`;
const UserRole = Type.Object(
  {
    id: wire.OptionalInteger({ description: 'Role ID', examples: [5] }),
    name: wire.OptionalText({ maxLength: 255, description: 'Role name', examples: ['Engineers'] }),
  },
  {
    title: 'UserRoleInput',
    description: BY_ID_OR_NAME,
    additionalProperties: false,
  },
);
export type UserRole = Static<typeof UserRole>;

export const InviteUser = wire.Input(
  'InviteUser',
  {
    email: Email('Address of the invited person'),
    user_role: Type.Unsafe<UserRole>({
      ...UserRole,
      title: 'InvitedRole',
      description: `${BY_ID_OR_NAME} Users if it names no role.`,
    }),
    client_id: wire.IntegerId('Account to join'),
    lang: Type.Optional(Lang),
    name: Type.Optional(PersonName('Name of a new user')),
  },
  { email: 'engineer@example.com', user_role: { id: 5, name: 'Engineers' }, client_id: 1 },
);
export type InviteUser = Static<typeof InviteUser>;

const sent = wire.Choice(['sent'], 'Always `sent`, although no mail is sent: give the token to the invited person.');
const invitationFields = {
  user_id: Type.Integer({
    description:
      'Identifies the invited person in this account until they join; the user then has this number, or the one that they already have elsewhere.',
    examples: [2],
  }),
  invitation_token: Type.String({
    description: 'For `POST /iam/auth/accept_invitation`, once. Shown only this once and stored nowhere.',
  }),
  invitation_expires: wire.Timestamp(
    'When the token stops working; `POST /iam/auth/renew_invitation` creates another.',
  ),
};
export const Invited = wire.Named('InvitedUser', { status: sent, ...invitationFields });

const RenewedInvitation = wire.Named('RenewedInvitation', {
  ...invitationFields,
  client_id: Type.Integer({ description: 'The account', examples: [1] }),
});
export type RenewedInvitation = Static<typeof RenewedInvitation>;
export const Renewed = wire.Named('RenewedInvitations', {
  status: sent,
  invitations: Type.Array(RenewedInvitation),
});

export const OfUser = wire.Input('UserAddress', { email: Email('Address of the user') }, { email: 'user@example.com' });
export const AcceptInvitation = wire.Input(
  'AcceptInvitation',
  {
    token: Type.String({
      maxLength: 100,
      pattern: '^invitation_[0-9]{1,15}_[0-9a-f]{64}$',
      rule: 'Must be the invitation_token of an invitation, with invitation_ before it.',
      description: 'The token that came with the invitation',
      examples: [`invitation_2_${'0f'.repeat(32)}`],
    }),
    password: GivenPassword(
      'If somebody already logs in with the invited address, their password. Otherwise a new one of 8 characters or more',
    ),
  },
  { token: `invitation_2_${'0f'.repeat(32)}`, password: 'many small green apples' },
);
export type AcceptInvitation = Static<typeof AcceptInvitation>;
export const Accepted = wire.Named('AcceptedInvitation', {
  user_id: Type.Integer({ description: 'The user, who can log in now', examples: [2] }),
  client_id: Type.Integer({ description: 'The account that they belong to from now on', examples: [1] }),
});

export const ClientUser = wire.Named('ClientUser', { user_role: Role });
export const UpdateClientUser = wire.Input(
  'UpdateClientUser',
  { user_role: Type.Optional(UserRole) },
  { user_role: { id: 5, name: 'Engineers' } },
);

export const CreateUser = wire.Input(
  'CreateUser',
  {
    email: Email('Address to log in with'),
    password: NewPassword('Password'),
    company: CompanyName('Name of the account that is created for the user'),
    user_type: wire.OptionalChoice(['common'], 'Always common'),
    name: Type.Optional(PersonName('Name')),
    phone: Type.Optional(Phone('Telephone number')),
    seller: Type.Optional(
      wire.nullable(wire.IntegerId('Seller of the reseller, or another user of it, who looks after the account')),
    ),
    services: wire.OptionalList(
      wire.Input('NewUserService', {
        product_name: wire.OptionalChoice(['CDN', 'CLOUD', 'DDOS', 'DNS', 'STORAGE', 'STREAMING'], {
          description: 'If left out, the entry is ignored',
          examples: ['CLOUD'],
        }),
        available: Type.Optional(wire.nullable(Type.Boolean({ examples: [true] }))),
      }),
      {
        maxItems: 6,
        description:
          'Whether the account may have CLOUD and STREAMING, if it is not to follow the defaults of the reseller. It begins with those that it may have; other services are refused.',
      },
    ),
    lang: Type.Optional(Lang),
    custom_id: wire.OptionalTextOrNull({ maxLength: 255, description: "The reseller's own number for the account" }),
    country_code: wire.OptionalTextOrNull({
      pattern: '^[A-Z]{2}$',
      rule: 'Must be an ISO 3166 country code of two capital letters.',
      description: 'ISO 3166 code of the country of the account',
      examples: ['DE'],
    }),
    is_test: wire.OptionalFlag({ description: 'The account is for tests', examples: [false] }),
  },
  { email: 'jane@example.com', password: 'many small green apples', company: 'Example Ltd' },
);
export type CreateUser = Static<typeof CreateUser>;

/** The published document has the role in a nested object; clients also send it without. */
const NestedRole = wire.Input('NestedUserRole', { user_role: UserRole });
export const CreateClientUser = wire.Input(
  'CreateClientUser',
  {
    username: Email('Address to log in with'),
    password: NewPassword('Password'),
    user_role: Type.Union([UserRole, NestedRole], {
      description: 'Role in the account; Users if it names no role',
    }),
    name: Type.Optional(PersonName('Name')),
  },
  { username: 'jane@example.com', password: 'many small green apples', user_role: { id: 5 } },
);
export type CreateClientUser = Static<typeof CreateClientUser>;
export const CreatedClientUser = wire.Named('CreatedClientUser', {
  name: wire.TextOrNull({ ...wire.NULL_AS_ABSENT }),
  username: Type.String({ examples: ['jane@example.com'] }),
  user_role: wire.Named('CreatedUserRole', { ...Role.properties, user_role: Role }),
});

export const Done = Type.Object({}, { title: 'Done', description: 'An empty object' });
export const ClientUserParams = Type.Object({
  clientId: wire.IntegerId('Client ID'),
  userId: wire.IntegerId('User ID'),
});

/** Returns a user as the caller may see them. Undefined if they have no account in common. */
export function presentedUser(
  user: UserRow,
  memberships: readonly Membership[],
  principal: Principal,
): User | undefined {
  const known = memberships.filter((membership) => membership.user_id === user.id && mayKnow(principal, membership));
  const meant =
    known.find(({ client_id }) => client_id === principal.clientId) ??
    known.find(({ client_id }) => client_id === user.home_id) ??
    known[0];
  return meant && presentedIn(user, meant, known);
}

/**
 * Returns a user as members of an account see them. Name and phone are only shown to those who know the
 * user's home account.
 */
export function presentedIn(user: UserRow, meant: Membership, known: readonly Membership[] = [meant]): User {
  const { id, name } = roleOf(meant.role_id);
  const atHome = known.some(({ client_id }) => client_id === user.home_id);
  return {
    id: user.id,
    email: user.email,
    name: atHome ? user.name : null,
    phone: atHome ? user.phone : null,
    company: meant.company,
    lang: user.lang,
    reseller: meant.reseller_id,
    client: meant.client_id,
    groups: [{ id, name }],
    user_type: userTypeOf(user, meant.client_id),
    auth_types: user.auth_types as User['auth_types'],
    deleted: false,
    activated: user.has_password,
    sso_auth: user.sso_auth,
    two_fa: user.two_fa,
    is_active: user.is_active && meant.is_active,
    client_and_roles: known.map((membership) => ({
      client_id: membership.client_id,
      client_company_name: membership.company,
      user_roles: [roleOf(membership.role_id).name],
      user_id: user.id,
    })),
  };
}
