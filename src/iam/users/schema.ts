import { type Static, Type } from 'typebox';
import { Email } from '../../lib/email.ts';
import { nullable } from '../../lib/nullable.ts';
import { IntegerId, pageFields } from '../../lib/wire.ts';
import type { Language } from '../identity/tables.ts';
import { GivenPassword, NewPassword } from '../logins/schema.ts';

export const MAX_LIMIT = 1000;

const LANGUAGES = ['az', 'de', 'en', 'ru', 'zh'] as const satisfies readonly Language[];
export const Lang = Type.Enum([...LANGUAGES], {
  type: 'string',
  description: 'Language of the user',
  examples: ['en'],
});

const AUTH_TYPES = ['password', 'sso', 'github', 'google-oauth2'] as const;
const AuthTypes = Type.Array(Type.Enum([...AUTH_TYPES], { type: 'string' }), {
  description: 'Ways to log in. This platform has `password` alone.',
  examples: [['password']],
});

const Role = Type.Object({
  id: Type.Integer({ examples: [5] }),
  name: Type.String({ examples: ['Engineers'] }),
});

/** What somebody may be called. */
export const PersonName = (description: string) =>
  nullable(Type.String({ maxLength: 255, description, examples: ['Jane Doe'] }));
export const Phone = (description: string) =>
  nullable(Type.String({ maxLength: 32, description, examples: ['+12025550123'] }));

const userFields = {
  id: Type.Integer({ description: 'User ID', examples: [1] }),
  email: Type.String({ description: 'Address to log in with', examples: ['user@example.com'] }),
  name: nullable(Type.String({ description: 'Null as well for users whom another account made' })),
  phone: nullable(Type.String({ description: 'Null as well for users whom another account made' })),
  company: Type.String({ description: 'Name of the account', examples: ['Example Ltd'] }),
  lang: Lang,
  reseller: Type.Integer({ description: 'Reseller of the account', examples: [1] }),
  client: Type.Integer({
    description: "The account that is meant: the caller's own where the user belongs to it",
    examples: [1],
  }),
  groups: Type.Array(Role, { description: 'Role of the user in that account' }),
  user_type: Type.Enum(['common', 'reseller', 'seller'], { type: 'string' }),
  auth_types: AuthTypes,
  deleted: Type.Boolean(),
  activated: Type.Boolean({ description: 'Whether the user has a password to log in with' }),
  sso_auth: Type.Boolean({ description: 'Always false: there is no single sign-on.' }),
  two_fa: Type.Boolean({ description: 'Always false: there is no second factor.' }),
  is_active: Type.Boolean({ description: 'False: blocked' }),
};

export const UserOnly = Type.Object(userFields, { title: 'UserWithoutAccounts' });
export const User = Type.Object(
  {
    ...userFields,
    client_and_roles: Type.Array(
      Type.Object(
        {
          client_id: Type.Integer(),
          client_company_name: Type.String(),
          user_roles: Type.Array(Type.String({ examples: ['Engineers'] })),
          user_id: Type.Integer(),
        },
        { title: 'UserAccount' },
      ),
      { description: 'Accounts of the user, as far as the caller may know of them' },
    ),
  },
  { title: 'User' },
);
export type User = Static<typeof User>;

export const UserPage = Type.Object({ ...pageFields, results: Type.Array(User) }, { title: 'UserPage' });
export type UserPage = Static<typeof UserPage>;

export const UserListQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_LIMIT,
        default: MAX_LIMIT,
        description: 'Most results to answer',
      }),
    ),
    offset: Type.Optional({ ...IntegerId('Results to skip before the first'), default: 0 }),
  },
  { additionalProperties: false },
);
export type UserListQuery = Static<typeof UserListQuery>;

/** Fields that a client may send back as it read them; they are not looked at. */
const ReadOnly = Type.Optional(Type.Unknown({ description: 'Read-only: not looked at' }));
const ROLE_LIST =
  'Administrators 1, Users 2, Engineers 5, Purge and Prefetch only (API+Web) 3009, Purge and Prefetch only (API) 3022';

export const UpdateUser = Type.Object(
  {
    email: Type.Optional(
      Email(
        'Address to log in with. Users without the role Administrators change their own with their password.',
      ),
    ),
    name: Type.Optional(PersonName('Name; null: none')),
    phone: Type.Optional(Phone('Telephone number; null: none')),
    lang: Type.Optional(Lang),
    auth_types: Type.Optional(
      Type.Array(Type.Enum(['password'], { type: 'string' }), {
        minItems: 1,
        maxItems: 1,
        description: 'This platform has `password` alone.',
        examples: [['password']],
      }),
    ),
    is_active: Type.Optional(
      Type.Boolean({
        description: 'false blocks another user: logins and API tokens stop working at once.',
        examples: [true],
      }),
    ),
    id: ReadOnly,
    company: ReadOnly,
    reseller: ReadOnly,
    client: ReadOnly,
    groups: ReadOnly,
    user_type: ReadOnly,
    deleted: ReadOnly,
    activated: ReadOnly,
    sso_auth: ReadOnly,
    two_fa: ReadOnly,
    client_and_roles: ReadOnly,
  },
  {
    title: 'UpdateUser',
    additionalProperties: false,
    examples: [{ name: 'Jane Doe', phone: '+12025550123', lang: 'de' }],
  },
);
export type UpdateUser = Static<typeof UpdateUser>;

export const ChangeEmail = Type.Object(
  { new_email: Email('The new address'), password: GivenPassword("The user's password") },
  {
    title: 'ChangeEmail',
    additionalProperties: false,
    examples: [{ new_email: 'jane@example.com', password: 'correct horse battery staple' }],
  },
);
export type ChangeEmail = Static<typeof ChangeEmail>;
export const ChangedEmail = Type.Object({ new_email: Type.String() }, { title: 'ChangedEmail' });

const UserRole = Type.Object(
  {
    id: Type.Optional(Type.Integer({ description: 'Role ID', examples: [5] })),
    name: Type.Optional(Type.String({ maxLength: 255, description: 'Role name', examples: ['Engineers'] })),
  },
  {
    title: 'UserRoleInput',
    description: `By id, by name or by both: ${ROLE_LIST}.`,
    minProperties: 1,
    additionalProperties: false,
  },
);
export type UserRole = Static<typeof UserRole>;

export const InviteUser = Type.Object(
  {
    email: Email('Address of the user. One who is known already joins the account as well.'),
    user_role: UserRole,
    client_id: IntegerId('Account to join'),
    lang: Type.Optional(Lang),
    name: Type.Optional(PersonName('Name of a new user')),
  },
  {
    title: 'InviteUser',
    additionalProperties: false,
    examples: [{ email: 'engineer@example.com', user_role: { id: 5, name: 'Engineers' }, client_id: 1 }],
  },
);
export type InviteUser = Static<typeof InviteUser>;
export const Invited = Type.Object(
  {
    status: Type.Enum(['sent'], {
      type: 'string',
      description: 'Always sent, though no mail is: the user belongs to the account from now on.',
    }),
    user_id: Type.Integer({ examples: [2] }),
  },
  { title: 'InvitedUser' },
);

export const ClientUser = Type.Object({ user_role: Role }, { title: 'ClientUser' });
export const UpdateClientUser = Type.Object(
  { user_role: UserRole },
  {
    title: 'UpdateClientUser',
    additionalProperties: false,
    examples: [{ user_role: { id: 5, name: 'Engineers' } }],
  },
);

export const CreateUser = Type.Object(
  {
    email: Email('Address to log in with'),
    password: NewPassword('Password'),
    company: Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '\\S',
      rule: 'Must not be empty.',
      description: 'Name of the account that is made for the user',
      examples: ['Example Ltd'],
    }),
    user_type: Type.Optional(Type.Enum(['common'], { type: 'string', description: 'Always common' })),
    name: Type.Optional(PersonName('Name')),
    phone: Type.Optional(Phone('Telephone number')),
    seller: Type.Optional(nullable(IntegerId('User of the reseller who looks after the account'))),
    services: Type.Optional(
      Type.Array(
        Type.Object(
          {
            product_name: Type.Enum(['CDN', 'CLOUD', 'DDOS', 'DNS', 'STORAGE', 'STREAMING'], {
              type: 'string',
              examples: ['CLOUD'],
            }),
            available: Type.Optional(nullable(Type.Boolean({ examples: [true] }))),
          },
          { title: 'NewUserService', additionalProperties: false },
        ),
        {
          maxItems: 6,
          description:
            'Every account has CLOUD and STREAMING, and no other service. Anything else is refused.',
        },
      ),
    ),
    lang: Type.Optional(Lang),
    custom_id: Type.Optional(
      nullable(Type.String({ maxLength: 255, description: "The reseller's own number for the account" })),
    ),
    country_code: Type.Optional(
      nullable(
        Type.String({
          pattern: '^[A-Z]{2}$',
          rule: 'Must be two capital letters, as ISO 3166 has them.',
          description: 'Country of the account, as ISO 3166 names it',
          examples: ['DE'],
        }),
      ),
    ),
    is_test: Type.Optional(Type.Boolean({ description: 'The account is for tests', examples: [false] })),
  },
  {
    title: 'CreateUser',
    additionalProperties: false,
    examples: [{ email: 'jane@example.com', password: 'many small green apples', company: 'Example Ltd' }],
  },
);
export type CreateUser = Static<typeof CreateUser>;

export const Done = Type.Object({}, { title: 'Done', description: 'Nothing else to say' });
export const UserParams = Type.Object({ userId: IntegerId('User ID') });
export const ClientUserParams = Type.Object({
  clientId: IntegerId('Client ID'),
  userId: IntegerId('User ID'),
});
