import { type Static, Type } from 'typebox';
import { IntegerId, Named, pageFields, Timestamp } from '../../lib/wire.ts';

const StatusChange = Named('AccountStatusChange', {
  id: Type.Integer({ examples: [1] }),
  status_change_at: Timestamp('When it was changed'),
  old_status: Type.String({ examples: ['active'] }),
  new_status: Type.String({ examples: ['paused'] }),
  federation_id: Type.String({ description: 'Always TRADEWIND', examples: ['TRADEWIND'] }),
  client: Type.Integer({ description: 'Client ID', examples: [1] }),
});
export const StatusChangePage = Named('AccountStatusChangePage', {
  ...pageFields,
  result: Type.Array(StatusChange),
});
export type StatusChangePage = Static<typeof StatusChangePage>;

export const AccountRequest = Named('AccountRequest', {
  id: Type.Integer({ description: 'Grows with time', examples: [1] }),
  actions: Type.String({ description: 'Name of the operation', examples: ['createSecurityGroup'] }),
  data: Type.String({ description: 'Always empty: bodies are not kept.' }),
  user_email: Type.String({ description: 'Empty for a user who is not in the account' }),
  client: Type.Integer({ description: 'The account that the request concerned', examples: [1] }),
  token: Type.Integer({ description: 'The API token; 0 when a login made it', examples: [1000] }),
  requested_at: Timestamp('When the request arrived'),
  path: Type.String({ examples: ['/iam/users/1'] }),
  remote_ip_address: Type.String({ examples: ['192.0.2.1'] }),
  host: Type.String({ description: 'Always empty: it is not kept.' }),
  method: Type.String({ examples: ['PATCH'] }),
  query_params: Type.String({ description: 'Always empty: queries are not kept.' }),
  status_code: Type.Integer({ examples: [200] }),
  reverted: Type.Boolean({ description: 'Always false: nothing is reverted.' }),
  user: Type.Integer({ description: 'Who made the request', examples: [1] }),
});
export type AccountRequest = Static<typeof AccountRequest>;
export const AccountRequestPage = Named('AccountRequestPage', {
  ...pageFields,
  result: Type.Array(AccountRequest),
});
export type AccountRequestPage = Static<typeof AccountRequestPage>;

export const RequestParams = Type.Object({ requestId: IntegerId('Number of the request in the list') });
