import type { Transaction } from '../../../db/database.ts';
import type { ActionLog } from '../../../requests/action-log.ts';
import { actionOf } from '../../../requests/action-of.ts';
import { typeOf } from '../../../requests/event-types.ts';
import { eventData } from '../../../requests/events.ts';
import type { IncomingRequest } from '../../../requests/incoming-request.ts';
import type { Sender } from '../../logins/passwords/service.ts';
import type { ProviderRow } from './store.ts';

/** Where a person signs in from, and the request that brings them back. */
export type From = Sender & Pick<IncomingRequest, 'id' | 'method' | 'url'>;

/** Records in these accounts that a sign-in has made a user there, or has changed what the user is there. */
export function recordChange(
  { actionLog }: { actionLog: ActionLog },
  tx: Transaction,
  verb: 'created' | 'updated',
  of: { userId: number; clientIds: readonly number[]; provider: ProviderRow; from: From },
): void {
  const { userId, provider, from } = of;
  const [type, subject] = [typeOf('user', verb), `user/${userId}`];
  for (const clientId of of.clientIds) {
    const request = {
      ...from,
      ip: from.address,
      operation: '',
      params: {},
      principal: { clientId, userId, tokenId: undefined },
    };
    const data = eventData({
      client_id: clientId,
      resources: [{ type: 'user', id: String(userId), name: null }],
      actor: { user_id: userId, client_id: clientId, token_id: null },
      request_id: from.id,
      reason: `Signed in with ${provider.name}`,
    });
    actionLog.record(
      tx,
      { ...actionOf(request, tx.now), outcome: 'accepted', status: 0, subject },
      { type, subject, revised: `users:${userId}`, data: JSON.stringify(data) },
    );
  }
}
