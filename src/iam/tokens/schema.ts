import { type Static, Type } from 'typebox';
import { isoMicros } from '../../lib/time.ts';
import * as wire from '../../lib/wire.ts';
import { ROLE_LIST } from '../../requests/principal.ts';
import { roleOf } from '../identity/schema.ts';
import type { TokenRow } from './store.ts';

const roleFields = {
  id: Type.Integer({ description: 'Role ID', examples: [5] }),
  name: Type.String({ maxLength: 255, description: 'Role name', examples: ['Engineers'] }),
};

const MOST_BOUNDS = 100;
const boundFields = {
  project_id: Type.Optional(wire.IntegerId('The only project that the token is good for')),
  operations: Type.Optional(
    Type.Array(
      Type.String({
        maxLength: 100,
        pattern: '^[a-z][A-Za-z0-9]*\\*?$',
        rule: 'Must be an operationId of the OpenAPI document, or the beginning of some with * after it.',
      }),
      {
        minItems: 1,
        maxItems: MOST_BOUNDS,
        description:
          'The only operations that it is good for, by their operationId. `list*` means all that begin with `list`.',
        examples: [['listInstances', 'get*']],
      },
    ),
  ),
  address_ranges: Type.Optional(
    Type.Array(Type.String({ maxLength: 50, description: 'An IPv4 or IPv6 range', examples: ['192.0.2.0/24'] }), {
      minItems: 1,
      maxItems: MOST_BOUNDS,
      description: 'The only addresses that it may be used from.',
      examples: [['192.0.2.0/24', '2001:db8::/32']],
    }),
  ),
};

export const CreateApiToken = wire.Input(
  'CreateApiToken',
  {
    name: Type.String({ minLength: 1, maxLength: 255, description: 'Token name', examples: ['Deployments'] }),
    description: wire.OptionalText({
      maxLength: 1000,
      description: 'Empty when left out.',
      examples: ['Used by the CI'],
    }),
    exp_date: wire.TextOrNull({
      format: 'date-time',
      description: 'When the token stops working, in RFC 3339 form; null means never.',
      examples: ['2031-01-01T12:00:00Z'],
    }),
    client_user: wire.Input('ApiTokenUserInput', {
      role: Type.Optional(
        Type.Object(Type.Partial(Type.Object(roleFields)).properties, {
          title: 'ApiTokenRoleInput',
          description: `By id, by name or by both: ${ROLE_LIST}. Not above the role of the token that creates it. Users if it is left out or names no role.`,
          additionalProperties: false,
        }),
      ),
    }),
    ...boundFields,
  },
  { name: 'Deployments', exp_date: null, client_user: { role: { id: 5 } } },
);
export type CreateApiToken = Static<typeof CreateApiToken>;

const tokenFields = {
  id: Type.Integer({ description: 'Token ID', examples: [1000] }),
  name: Type.String({ description: 'Token name', examples: ['Deployments'] }),
  description: Type.String({ description: 'Empty when there is none.' }),
  exp_date: wire.TextOrNull({
    ...wire.NULL_AS_EMPTY,
    description: 'When it stops working; null or empty means never.',
  }),
  expired: Type.Boolean({ description: 'Whether the token has expired.' }),
  deleted: Type.Boolean({
    description: 'Whether it was deleted. An expired one counts as deleted after 30 days.',
  }),
  created: wire.Timestamp('When the token was created'),
  last_usage: wire.Timestamp(
    'When a request last used the token, recorded a few seconds late. Equal to `created` until a request uses it.',
  ),
  client_user: wire.Named('ApiTokenUser', {
    user_id: Type.Integer({ description: 'User that the token acts for', examples: [1] }),
    user_name: Type.String({
      description: 'Name of the user, or the e-mail address of one without a name',
    }),
    user_email: Type.String(),
    client_id: Type.Integer({ description: 'Account of the token', examples: [1] }),
    deleted: Type.Boolean({ description: 'Whether the user was deleted' }),
    role: wire.Named('ApiTokenRole', roleFields),
  }),
};
/** Absent from a token that may do what its user may. */
const bounds = wire.Named('ApiTokenBounds', {
  project_id: wire.IntegerOrNull({ description: 'The only project that it is good for; null for all' }),
  operations: wire.nullable(Type.Array(Type.String(), { description: 'The only operations; null for all' })),
  address_ranges: wire.nullable(Type.Array(Type.String(), { description: 'The only addresses; null for all' })),
});
export const ApiToken = wire.Named('ApiToken', { ...tokenFields, bounds: Type.Optional(bounds) });
export type ApiToken = Static<typeof ApiToken>;
export const ApiTokenArray = Type.Array(ApiToken);

export const CreatedApiToken = wire.Named('CreatedApiToken', {
  ...tokenFields,
  bounds: Type.Optional(bounds),
  token: Type.String({
    description: 'The text to authenticate with. Shown only this once and stored nowhere.',
  }),
});

export const TokenListQuery = wire.Query({
  role: wire.OptionalText({ maxLength: 255, description: `ID or name of a role: ${ROLE_LIST}` }),
  issued_by: Type.Optional(wire.IntegerId('Only tokens of this user')),
  not_issued_by: Type.Optional(wire.IntegerId('No tokens of this user')),
  deleted: wire.OptionalFlag({ default: false, description: 'true: deleted tokens instead of those that exist' }),
});
export type TokenListQuery = Static<typeof TokenListQuery>;

export const TokenParams = Type.Object({ clientId: wire.IntegerId('Client ID'), tokenId: wire.IntegerId('Token ID') });

export function presentedToken(row: TokenRow, deleted: boolean, now: Date): ApiToken {
  const { id, name } = roleOf(row.role_id);
  const { project_id, operations, address_ranges } = row;
  return {
    ...((project_id ?? operations ?? address_ranges) !== null && {
      bounds: { project_id, operations, address_ranges },
    }),
    id: row.id,
    name: row.name,
    description: row.description,
    exp_date: row.expires_at && isoMicros(row.expires_at),
    expired: row.expires_at !== null && row.expires_at <= now,
    deleted,
    created: isoMicros(row.created_at),
    // Clients expect a text here and fail on null.
    last_usage: isoMicros(row.last_used_at ?? row.created_at),
    client_user: {
      user_id: row.user_id,
      user_name: row.user_name ?? row.user_email,
      user_email: row.user_email,
      client_id: row.client_id,
      deleted: row.user_deleted_at !== null,
      role: { id, name },
    },
  };
}
