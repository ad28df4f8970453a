import { isIP } from 'node:net';
import { type Database, violates } from '../../../db/database.ts';
import type { AllowedHosts } from '../../../lib/allowed-hosts.ts';
import type { Clock } from '../../../lib/clock.ts';
import { ConflictError, InvalidError } from '../../../lib/errors.ts';
import type { Page, PageQuery } from '../../../lib/page.ts';
import { isPublicAddress } from '../../../lib/public-address.ts';
import type { Principal } from '../../../requests/principal.ts';
import type { Secrets } from '../../../secrets/secrets.ts';
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
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The parser repairs a lot (spaces, backslashes, missing slashes). What it repaired is refused.
  if (!url || !/^https?:\/\/[^\s\\/?#@]+([/?#][^\s\\]*)?$/i.test(text)) {
    throw new InvalidError({
      url: ['Must be a URL such as https://audit.example.com/actions, without user name and password.'],
    });
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isPublicAddress(host) && !allowed.allows(url)) {
    throw new InvalidError({
      url: [
        'Is not on the public internet. The operator of this service can allow the host with TRADEWIND_WEBHOOK_ALLOW_HOSTS.',
      ],
    });
  }
  if (OURS.has(header.toLowerCase())) {
    throw new InvalidError({
      auth_header_name: [`${header} is set by this service; choose another header.`],
    });
  }
}
