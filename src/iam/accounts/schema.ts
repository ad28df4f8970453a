import { type Static, Type } from 'typebox';
import { Choice, Named, NULL_AS_EMPTY, TextOrNull } from '../../lib/wire.ts';

/* The words for accounts and for people, which all of iam uses. */

export const SERVICES = ['CDN', 'CLOUD', 'DDOS', 'DNS', 'STORAGE', 'STREAMING'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** The services that this platform offers; the other published services only have features in the catalogue. */
export const OFFERED = ['CLOUD', 'STREAMING'] as const satisfies readonly ServiceName[];
export type OfferedService = (typeof OFFERED)[number];
export const isOffered = (service: ServiceName): service is OfferedService =>
  (OFFERED as readonly ServiceName[]).includes(service);
export const SERVICE_STATUSES = ['new', 'trial', 'trialend', 'active', 'paused', 'activating', 'deleted'] as const;
export type ServiceStatus = (typeof SERVICE_STATUSES)[number];

const LANGUAGES = ['az', 'de', 'en', 'ru', 'zh'] as const;
export const Lang = Choice(LANGUAGES, { description: 'Language of the user', examples: ['en'] });

const AUTH_TYPES = ['password', 'sso', 'github', 'google-oauth2'] as const;
export const AuthTypes = Type.Array(Choice(AUTH_TYPES), {
  maxItems: AUTH_TYPES.length,
  uniqueItems: true,
  description: 'Ways to log in, stored as given. They say nothing about how the user may log in.',
  examples: [['password']],
});

export const Role = Type.Object({
  id: Type.Integer({ examples: [5] }),
  name: Type.String({ examples: ['Engineers'] }),
});

export const PersonName = (description: string) => TextOrNull({ maxLength: 255, description, examples: ['Jane Doe'] });
export const Phone = (description: string) => TextOrNull({ maxLength: 32, description, examples: ['+12025550123'] });

export const CompanyName = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '\\S',
    rule: 'Must not be empty.',
    description,
    examples: ['Example Ltd'],
  });

const userFields = {
  id: Type.Integer({ description: 'User ID', examples: [1] }),
  email: Type.String({ description: 'Address to log in with', examples: ['user@example.com'] }),
  name: TextOrNull({ ...NULL_AS_EMPTY, description: 'Also none for users whom another account created' }),
  phone: TextOrNull({ ...NULL_AS_EMPTY, description: 'Also none for users whom another account created' }),
  company: Type.String({ description: 'Name of the account', examples: ['Example Ltd'] }),
  lang: Lang,
  reseller: Type.Integer({ description: 'Reseller of the account', examples: [1] }),
  client: Type.Integer({
    description: "The account that `groups` refers to: the caller's own if the user belongs to it",
    examples: [1],
  }),
  groups: Type.Array(Role, { description: 'Role of the user in that account' }),
  user_type: Choice(['common', 'reseller', 'seller']),
  auth_types: AuthTypes,
  deleted: Type.Boolean(),
  activated: Type.Boolean({
    description: 'Whether the user has a password to log in with; false for an invited user who has not joined yet',
  }),
  sso_auth: Type.Boolean({ description: 'Whether an identity provider has vouched for the user' }),
  two_fa: Type.Boolean({ description: 'Whether the user has a second factor' }),
  is_active: Type.Boolean({ description: 'False: blocked in this account, or by the platform' }),
};

export const UserOnly = Named('UserWithoutAccounts', userFields);
export const User = Named('User', {
  ...userFields,
  client_and_roles: Type.Array(
    Named('UserAccount', {
      client_id: Type.Integer(),
      client_company_name: Type.String(),
      user_roles: Type.Array(Type.String({ examples: ['Engineers'] })),
      user_id: Type.Integer(),
    }),
    { description: 'Accounts of the user that the caller may know of' },
  ),
});
export type User = Static<typeof User>;
