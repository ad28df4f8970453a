import type { Logger } from 'pino';
import type { Database } from '../../../../db/database.ts';
import { type AllowedHosts, post } from '../../../../lib/outside-request.ts';
import type { Clock } from '../../../../lib/time.ts';
import type { Secrets } from '../../../../secrets/secrets.ts';
import { presentedAction } from '../presenter.ts';
import { type ListedAction, withEmails } from '../store.ts';
import * as store from './store.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const AT_ONCE = 10;
const BATCH = 100;
const ANSWER_MS = 10 * SECOND;
/** A batch starts nothing new after this time, so that it ends before its lease does. */
const BATCH_MS = 30 * SECOND;
const LEASE_MS = MINUTE;
/** An action has the time at which its request arrived, but its transaction may commit this much later. */
const LATE_MS = 5 * MINUTE;
const STALE_MS = 2 * LATE_MS;
/** Actions that could not be sent for this long are given up. */
const GIVE_UP_MS = 24 * 60 * MINUTE;
const FIRST_WAIT_MS = 5 * SECOND;
const LONGEST_WAIT_MS = 60 * MINUTE;

/** Sends user actions to the accounts' subscribers: each at least once, older ones first. */
export interface Deliveries {
  /** Sends what is due, once. Any number of processes share the work. */
  send(signal: AbortSignal): Promise<void>;
}

export function createDeliveries(deps: {
  database: Database;
  clock: Clock;
  webhookHosts: AllowedHosts;
  secrets: Secrets;
  log: Logger;
}): Deliveries {
  const { database, clock, webhookHosts, secrets, log } = deps;
  const after = (ms: number) => new Date(clock.now().getTime() + ms);

  async function sendAll(subscription: store.SubscriptionRow, signal: AbortSignal): Promise<void> {
    const begun = clock.now();
    const actions = await store.unsentActions(database.sql, subscription, BATCH);
    const sent: number[] = [];
    let fault: string | undefined;
    for (const action of await withEmails(database.sql, actions)) {
      if (signal.aborted || clock.now().getTime() - begun.getTime() > BATCH_MS) break;
      fault = await faultOf(subscription, action, signal);
      if (fault !== undefined) break;
      sent.push(action.id);
    }
    // If a stop of this process cut off the request, the receiver isn't to blame.
    const failed = fault !== undefined && !signal.aborted;
    const failures = failed ? subscription.failures + 1 : 0;
    if (failed) {
      const { client_id: client, url } = subscription;
      log.warn({ client, host: new URL(url).host, fault, failures }, 'Failed to deliver user actions');
    }
    const [left] = actions.slice(sent.length);
    await database.transaction((tx) =>
      store.settle(tx, subscription, sent, {
        failures: signal.aborted ? subscription.failures : failures,
        due_at: after(failed ? waitOf(failures) : 0),
        sent_until: nothingBefore(subscription, begun, left?.timestamp),
      }),
    );
  }

  /** Returns the time before which nothing is left: actions are sent, given up or older than the subscription. */
  function nothingBefore({ sent_until: known }: store.SubscriptionRow, begun: Date, left: Date | undefined): Date {
    const looked = begun.getTime() - LATE_MS;
    const unsent = Math.max(left?.getTime() ?? Infinity, begun.getTime() - GIVE_UP_MS);
    return new Date(Math.max(known.getTime(), Math.min(looked, unsent)));
  }

  /** Sends an action. Returns why that failed, or undefined. */
  async function faultOf(subscription: store.SubscriptionRow, action: ListedAction, signal: AbortSignal) {
    const url = new URL(subscription.url);
    try {
      const { auth_header_name: name, auth_header_value: value } = await store.opened(secrets, subscription);
      const { status } = await post(url, {
        headers: { [name]: value, 'content-type': 'application/json', 'user-agent': 'tradewind' },
        body: JSON.stringify(presentedAction(action)),
        open: webhookHosts.allows(url),
        signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
      });
      return status >= 200 && status < 300 ? undefined : `The receiver returned HTTP ${status}`;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  return {
    async send(signal) {
      const due = await store.takeDue(database.sql, {
        now: clock.now(),
        leasedUntil: after(LEASE_MS),
        stale: after(-STALE_MS),
        limit: AT_ONCE,
      });
      await Promise.all(due.map((subscription) => sendAll(subscription, signal)));
    },
  };
}

function waitOf(failures: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 20), LONGEST_WAIT_MS);
}
