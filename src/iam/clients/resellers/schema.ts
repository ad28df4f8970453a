import { type Static, Type } from 'typebox';
import { Email } from '../../../lib/email.ts';
import { Input, IntegerId, Named, nullable, Query, Timestamp } from '../../../lib/wire.ts';

import { CompanyName } from '../../accounts/schema.ts';

export const CreateReseller = Input(
  'CreateReseller',
  {
    name: CompanyName('Name of the reseller and of its own account.'),
    email: Type.Optional(Email("Address of the reseller's administrator, who can have a password set later")),
  },
  { name: 'Example Cloud' },
);
export type CreateReseller = Static<typeof CreateReseller>;

const fields = {
  id: Type.Integer({ examples: [2] }),
  name: Type.String(),
  client_id: nullable(Type.Integer({ description: 'Its own account, in which its users are' })),
  clients: Type.Integer({ description: 'How many accounts it has, its own included' }),
  created_at: Timestamp(),
};
export const Reseller = Named('Reseller', fields);
export type Reseller = Static<typeof Reseller>;

export const NewReseller = Named('NewReseller', {
  ...fields,
  token: Type.String({ description: "An API token with the reseller's rights. It is not shown again" }),
});
export type NewReseller = Static<typeof NewReseller>;

export const ResellerParams = Type.Object({ reseller_id: IntegerId('Reseller') });

export const ResellerListQuery = Query({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: 'Maximum number of results' }),
  ),
  page_token: Type.Optional(Type.String({ maxLength: 100, description: '`next_page_token` of the page before' })),
});
export type ResellerListQuery = Static<typeof ResellerListQuery>;

export const ResellerList = Named('ResellerList', {
  next_page_token: nullable(Type.String({ description: 'For the next page; null on the last one' })),
  results: Type.Array(Reseller),
});
export type ResellerList = Static<typeof ResellerList>;
