import { type Database, violates } from '../../../../db/database.ts';
import type { AllowedHosts } from '../../../../lib/allowed-hosts.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { ConflictError, InvalidError } from '../../../../lib/errors.ts';
import type { Page, PageQuery } from '../../../../lib/page.ts';
import { receiverProblem } from '../../../../lib/receiver-url.ts';
import type { Principal } from '../../../../requests/principal.ts';
import type { Secrets } from '../../../../secrets/secrets.ts';
import type { Subscribe } from './schema.ts';
import * as store from './store.ts';

/** Headers that belong to the connection or describe the content. */
const OURS = new Set([
  'connection',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
  'upgrade',
]);

/** The address to which an account wants its user actions sent. An account can have only one. */
export interface Subscriptions {
  /** Sends actions from now on. @throws InvalidError, ConflictError while the account has a subscription */
  subscribe(principal: Principal, wanted: Subscribe): Promise<void>;
  /** Does nothing if there is no subscription. */
  unsubscribe(principal: Principal): Promise<void>;
  list(principal: Principal, page: PageQuery): Promise<Page<store.SubscriptionRow>>;
}

export function createSubscriptions(deps: {
  database: Database;
  clock: Clock;
  /** Hosts that may receive actions although they aren't on the public internet. */
  webhookHosts: AllowedHosts;
  secrets: Secrets;
}): Subscriptions {
  const { database, clock, webhookHosts, secrets } = deps;

  return {
    async subscribe(principal, wanted) {
      requireUsable(wanted, webhookHosts);
      const now = clock.now();
      const row = { ...wanted, client_id: principal.clientId, due_at: now, sent_until: now, created_at: now };
      try {
        await database.accept(principal, (tx) => store.insertSubscription(tx, secrets, row));
      } catch (error) {
        if (!violates(error, 'user_action_subscriptions_client')) throw error;
        throw new ConflictError(
          'The account already has a subscription; delete it with POST /cloud/v1/user_actions/unsubscribe first',
        );
      }
    },
    unsubscribe: (principal) =>
      database.accept(principal, (tx) => store.deleteSubscription(tx, principal.clientId)),
    list: (principal, page) => store.listSubscriptions(database.sql, secrets, principal.clientId, page),
  };
}

function requireUsable({ url: text, auth_header_name: header }: Subscribe, allowed: AllowedHosts): void {
  const problem = receiverProblem(text, allowed);
  if (problem !== undefined) throw new InvalidError({ url: [problem] });
  if (OURS.has(header.toLowerCase())) {
    throw new InvalidError({
      auth_header_name: [`${header} is set by this service; choose another header.`],
    });
  }
}
