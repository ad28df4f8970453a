import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { versionedUser } from '../../../lib/versioned.ts';
import type { Platform } from '../../../platform.ts';
import * as schema from './schema.ts';
import { createSeller, deleteSeller, getSeller, listSellers, updateSeller } from './service.ts';

const BASE = '/iam/admin/sellers';
const ONE = `${BASE}/:sellerId`;
const tags = ['Sellers'];

export function sellerRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, params: schema.SellerParams, access: 'resell' });

  api.get(BASE, 'listSellers', 'List the sellers of a reseller', {
    description:
      'Without `limit`, an array of at most 10,000; otherwise a page. The platform administrator gets the sellers of all resellers.',
    query: schema.SellerListQuery,
    answer: schema.SellerList,
    handler: ({ principal, query }) => listSellers(on, principal, query),
  });

  api.post(BASE, 'createSeller', 'Invite a seller', {
    secretAnswer: true,
    description:
      "A seller is a user of the reseller's own account who has the reseller's rights and can be named as the `seller` of its clients. The invited person gets a token by mail that works for 24 hours, and sets a password with `POST /iam/auth/accept_invitation`. If Tradewind sends no mail, give them the token in the answer; `POST /iam/auth/renew_invitation` makes another. Refused with 429 after 20 requests in 15 minutes for addresses that other users have.",
    body: schema.CreateSeller,
    answer: schema.InvitedSeller,
    handler: ({ principal, body }) => createSeller(on, principal, body),
  });

  api.get(ONE, 'getSeller', 'Get a seller', {
    versioned: versionedUser('sellerId'),
    answer: schema.Seller,
    handler: ({ principal, params }) => getSeller(on, principal, params.sellerId),
  });

  api.patch(ONE, 'updateSeller', 'Change a seller', {
    description: 'A seller who also belongs to other accounts is refused with 403: only they can change themselves.',
    body: schema.UpdateSeller,
    answer: schema.Seller,
    handler: ({ principal, params, body }) => updateSeller(on, principal, params.sellerId, body),
  });

  api.delete(ONE, 'deleteSeller', 'Delete a seller', {
    description:
      'Their logins end, and nobody looks after their clients from then on. A seller who also belongs to other accounts stays a user there. Refused with 403 for a seller with working API tokens, and with 409 for the only administrator of the account.',
    handler: ({ principal, params }) => deleteSeller(on, principal, params.sellerId),
  });
}
