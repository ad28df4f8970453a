import { violates } from '../../../../db/database.ts';
import { ConflictError, InvalidError } from '../../../../lib/errors.ts';
import { type AllowedHosts, receiverProblem } from '../../../../lib/outside-request.ts';
import type { PageQuery } from '../../../../lib/page.ts';
import type { Platform } from '../../../../platform.ts';
import type { Principal } from '../../../../requests/principal.ts';
import type { Subscribe } from './schema.ts';
import * as store from './store.ts';

/* The address to which an account wants its user actions sent. An account can have only one. */

/** Headers that belong to the connection or describe the content. */
const OURS = new Set(['connection', 'content-length', 'content-type', 'host', 'transfer-encoding', 'upgrade']);

/** Sends actions from now on. @throws InvalidError, ConflictError while the account has a subscription */
export async function subscribe(on: Platform, principal: Principal, wanted: Subscribe): Promise<void> {
  requireUsable(wanted, on.webhookHosts);
  const now = on.clock.now();
  const row = { ...wanted, client_id: principal.clientId, due_at: now, sent_until: now, created_at: now };
  try {
    await on.database.accept((tx) => store.insertSubscription(tx, on.secrets, row));
  } catch (error) {
    if (!violates(error, 'user_action_subscriptions_client')) throw error;
    throw new ConflictError(
      'The account already has a subscription; delete it with POST /cloud/v1/user_actions/unsubscribe first',
    );
  }
}

/** Does nothing if there is no subscription. */
export const unsubscribe = (on: Platform, principal: Principal): Promise<void> =>
  on.database.accept((tx) => store.deleteSubscription(tx, principal.clientId));

export const listSubscriptions = (on: Platform, principal: Principal, page: PageQuery) =>
  store.listSubscriptions(on.database.sql, on.secrets, principal.clientId, page);

function requireUsable({ url: text, auth_header_name: header }: Subscribe, allowed: AllowedHosts): void {
  const problem = receiverProblem(text, allowed);
  if (problem !== undefined) throw new InvalidError({ url: [problem] });
  if (OURS.has(header.toLowerCase())) {
    throw new InvalidError({
      auth_header_name: [`${header} is set by this service; choose another header.`],
    });
  }
}

export { deleteSubscription } from './store.ts';
