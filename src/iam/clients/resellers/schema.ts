import { type Static, Type } from 'typebox';
import { Email } from '../../../lib/email.ts';
import * as wire from '../../../lib/wire.ts';

import { CompanyName } from '../../accounts/schema.ts';

export const CreateReseller = wire.Input(
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
  client_id: wire.IntegerOrNull({ description: 'Its own account, in which its users are' }),
  clients: Type.Integer({ description: 'How many accounts it has, its own included' }),
  created_at: wire.Timestamp(),
};
export const Reseller = wire.Named('Reseller', fields);
export type Reseller = Static<typeof Reseller>;

export const NewReseller = wire.Named('NewReseller', {
  ...fields,
  token: Type.String({ description: "An API token with the reseller's rights. It is not shown again" }),
});
export type NewReseller = Static<typeof NewReseller>;

export const ResellerParams = Type.Object({ reseller_id: wire.IntegerId('Reseller') });

export const ResellerListQuery = wire.Query({
  limit: wire.OptionalInteger({ minimum: 1, maximum: 1_000, default: 100, description: 'Maximum number of results' }),
  page_token: wire.OptionalText({ maxLength: 100, description: '`next_page_token` of the page before' }),
});
export type ResellerListQuery = Static<typeof ResellerListQuery>;

export const ResellerList = wire.Named('ResellerList', {
  next_page_token: wire.TextOrNull({ description: 'For the next page; null on the last one' }),
  results: Type.Array(Reseller),
});
export type ResellerList = Static<typeof ResellerList>;
