import { type Static, Type } from 'typebox';
import * as wire from '../../../lib/wire.ts';
import { ROLES } from '../../../requests/principal.ts';

const Role = (description: string) =>
  wire.Choice([ROLES.administrators.name, ROLES.engineers.name, ROLES.users.name], {
    description,
    examples: ['Engineers'],
  });

const Group = wire.Input('IdentityProviderGroup', {
  group: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'A group of the provider',
    examples: ['developers'],
  }),
  role: Role('What its members are. Of several, the highest counts.'),
  client_id: Type.Optional(wire.IntegerId("The account, for a reseller's provider")),
});

const fields = {
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: '\\S',
    rule: 'Must not be empty.',
    description: 'Name that people know',
    examples: ['Example Ltd'],
  }),
  issuer: Type.String({
    minLength: 1,
    maxLength: 500,
    description: 'The issuer, as its tokens name it. Below it is `/.well-known/openid-configuration`.',
    examples: ['https://login.example.com'],
  }),
  oidc_client_id: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'The client ID that the provider gave Tradewind',
    examples: ['tradewind'],
  }),
  scopes: Type.Array(
    Type.String({
      maxLength: 100,
      pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$',
      rule: 'Must be a scope, without spaces.',
      examples: ['openid'],
    }),
    { maxItems: 20, uniqueItems: true, description: 'Scopes to ask for; `openid` is always among them' },
  ),
  groups_claim: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'The claim with the groups: a list of texts, or one text',
    examples: ['groups'],
  }),
  groups: Type.Array(Group, { maxItems: 200, description: 'What the members of groups are' }),
  default_role: wire.orNull(
    Role('What people in none of the groups are'),
    'Null: people in none of the groups stay out',
  ),
  email_domains: Type.Array(
    Type.String({
      maxLength: 253,
      pattern: '^[a-z0-9][a-z0-9-]*(\\.[a-z0-9][a-z0-9-]*)+$',
      rule: 'Must be a domain in lower case.',
      examples: ['example.com'],
    }),
    { minItems: 1, maxItems: 50, uniqueItems: true, description: 'Domains of the addresses that new users may have' },
  ),
  enabled: Type.Boolean({ description: 'Whether people can sign in with it. When it is disabled, their logins end.' }),
  required: Type.Boolean({
    description:
      'Whether the people of the account may no longer use passwords. Administrators with a second factor still may.',
  }),
};
const secret = Type.String({
  minLength: 1,
  maxLength: 1_000,
  description: 'The client secret. It is stored encrypted and never shown.',
  examples: ['an-example-secret'],
});

export const IdentityProvider = wire.Named('IdentityProvider', {
  id: Type.String({ format: 'uuid' }),
  client_id: wire.nullable(wire.IntegerId('The account that it is for; null for all clients of the reseller')),
  reseller_id: wire.nullable(wire.IntegerId('The reseller that it is for')),
  ...fields,
  has_client_secret: Type.Boolean({ description: 'Whether there is a client secret' }),
  sign_in_path: Type.String({ description: 'Where people go to sign in, below the public address' }),
  created_at: wire.Timestamp(),
  updated_at: wire.Timestamp(),
});
export type IdentityProvider = Static<typeof IdentityProvider>;

const { name, issuer, oidc_client_id, email_domains, ...others } = fields;
export const NewProvider = wire.Input(
  'IdentityProviderInput',
  {
    name,
    issuer,
    oidc_client_id,
    email_domains,
    ...Type.Partial(Type.Object(others)).properties,
    oidc_client_secret: Type.Optional(secret),
    for_reseller: wire.OptionalFlag({
      description: "Whether it is for all clients of the caller's reseller, and not for the caller's account",
    }),
  },
  {
    name: 'Example Ltd',
    issuer: 'https://login.example.com',
    oidc_client_id: 'tradewind',
    oidc_client_secret: 'an-example-secret',
    email_domains: ['example.com'],
    groups: [{ group: 'developers', role: 'Engineers' }],
  },
);
export type NewProvider = Static<typeof NewProvider>;

export const ProviderChange = wire.Input(
  'IdentityProviderChange',
  {
    ...Type.Partial(Type.Object(fields)).properties,
    oidc_client_secret: Type.Optional(wire.nullable(secret)),
  },
  { enabled: false },
);
export type ProviderChange = Static<typeof ProviderChange>;

export const ProviderList = wire.Named('IdentityProviderList', {
  count: Type.Integer({ description: 'How many there are', examples: [1] }),
  results: Type.Array(IdentityProvider),
  public_url: wire.TextOrNull({
    description:
      'The public address of the server, `TRADEWIND_PUBLIC_URL`. Null if its operator has set none: nobody can sign in so then',
  }),
});
export type ProviderList = Static<typeof ProviderList>;
export const ProviderParams = Type.Object({ provider_id: Type.String({ description: 'Identity provider' }) });
