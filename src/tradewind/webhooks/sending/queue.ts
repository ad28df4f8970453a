import type { Logger } from 'pino';
import { Histogram, type Registry } from 'prom-client';
import type { ChangeFeed } from '../../../db/changes.ts';
import { type Database, holds, type Transaction } from '../../../db/database.ts';
import { type Loop, loop, waitAfter as waitBetween } from '../../../lib/loop.ts';
import { type AllowedHosts, post } from '../../../lib/outside-request.ts';
import { keptText } from '../../../lib/texts.ts';
import { type Clock, systemClock } from '../../../lib/time.ts';
import type { Mailer } from '../../../mail/mailer.ts';
import { administratorsOf } from '../../../mail/receivers.ts';
import { WEBHOOK_DISABLED } from '../../../requests/event-types.ts';
import { eventData, writingEvent } from '../../../requests/events.ts';
import type { Secrets } from '../../../secrets/secrets.ts';
import type { Queue } from '../../../worker/worker.ts';
import { createEventReader, type EventRow, presentedEvent, typeMatcher } from '../../events/service.ts';
import { signedHeaders } from '../service.ts';
import { DELIVERED_WITHIN_MS, READER, WEBHOOKS } from '../store.ts';
import * as claims from './claims.ts';
import * as endings from './endings.ts';
import { FAILING_FROM, insertDeliveries, type Told, wantedAfter, webhooksFor } from './fan-out-store.ts';

const WAITS = { firstMs: 1_000, longestMs: 30 * 60_000 };
/** What a receiver asks for with `Retry-After` counts up to here. */
const MOST_ASKED_MS = 3_600_000;

/** Returns how long to wait after that many failures in a row, in milliseconds. `random` returns numbers from 0 to 1. */
export const waitAfter = (failures: number, random: () => number): number => waitBetween(failures, WAITS, random);

/** Returns what `Retry-After` asks for, in milliseconds: seconds, or a date by the receiver's clock. 0 for nonsense. */
export function askedWait(header: string | undefined, now: Date): number {
  const text = header ?? '';
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : timeOf(text) - now.getTime();
  return Math.min(Math.max(ms, 0), MOST_ASKED_MS);
}

/** Returns the time of a date as HTTP writes it; 0 for another text. */
const timeOf = (text: string): number => (text.endsWith(' GMT') && Date.parse(text)) || 0;

const ATTEMPT_MS = 10_000;
const MOST_ANSWER = 4_096;
const MOST_SHOWN = 1_000;
const DAY_MS = 86_400_000;
/** After so long without a single success, a webhook is disabled. */
const DISABLED_AFTER_MS = 5 * DAY_MS;
/**
 * When a receiver is back, what has failed is sent again after this time, and not at once: it may be that only some events
 * fail.
 */
const SOON_MS = 5_000;
/** The receiver wants no more, says the standard. */
const GONE = 410;
/** The receiver says when to come back. */
const BUSY = new Set([429, 503]);

export interface Sender {
  workerId: string;
  database: Database;
  clock: Clock;
  secrets: Secrets;
  webhookHosts: AllowedHosts;
  mailer: Mailer;
  log: Logger;
  measures?: SendingMeasures;
  random?: () => number;
}

interface Result extends endings.Outcome {
  delivered: boolean;
  /** How long the receiver wants to be left alone, in milliseconds. */
  askedMs: number;
}

/** Sends a delivery once, and notes what came of it. */
export async function attemptDelivery(sender: Sender, claimed: claims.Claimed): Promise<void> {
  const began = performance.now();
  const result = await send(sender, claimed);
  const outcome = result.delivered ? 'delivered' : result.status === null ? 'failed' : 'refused';
  sender.measures?.attempted({ outcome, seconds: (performance.now() - began) / 1_000 });
  await sender.database.transaction((tx) => settle(tx, sender, claimed, result));
}

async function send({ clock, secrets, webhookHosts }: Sender, claimed: claims.Claimed): Promise<Result> {
  const url = new URL(claimed.url);
  const failed = { status: null, answer: null, delivered: false, askedMs: 0 };
  try {
    const keys = await secretsOf(claimed, secrets, clock.now());
    if (keys.length === 0) return { ...failed, fault: 'The secret is lost; rotate it' };
    // Receivers compare the time with their own, and not with that of tests.
    const message = { id: claimed.event_id, body: claimed.body, at: systemClock.now() };
    const { status, text, headers } = await post(url, {
      headers: {
        ...signedHeaders(message, keys),
        'content-type': 'application/cloudevents+json; charset=utf-8',
        'user-agent': 'tradewind',
      },
      body: claimed.body,
      open: webhookHosts.allows(url),
      signal: AbortSignal.timeout(ATTEMPT_MS),
      most: MOST_ANSWER,
    });
    if (status >= 200 && status < 300) return { status, fault: null, answer: null, delivered: true, askedMs: 0 };
    const askedMs = BUSY.has(status) ? askedWait(headers['retry-after'], systemClock.now()) : 0;
    const fault = `The receiver answered ${status}`;
    return { ...failed, status, fault, answer: shown(text), askedMs };
  } catch (error) {
    return { ...failed, fault: faultOf(error) };
  }
}

/** The present secret and, for a while, the former one. */
async function secretsOf({ webhook_id, ...row }: claims.Claimed, secrets: Secrets, now: Date): Promise<string[]> {
  const open = (column: 'secret' | 'previous_secret') =>
    row[column] === null ? undefined : secrets.open(`webhooks.${column}`, [webhook_id], row[column]);
  const overlaps = row.previous_until !== null && row.previous_until > now;
  const found = await Promise.all([open('secret'), overlaps ? open('previous_secret') : undefined]);
  return found.filter((one) => one !== undefined);
}

const shown = (text: string): string | null => keptText(text, MOST_SHOWN) || null;

function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The signal's own error is the cause of the one that a request ends with.
  const { name } = error.cause instanceof Error ? error.cause : error;
  if (name === 'TimeoutError') return `No answer within ${ATTEMPT_MS / 1_000} seconds`;
  return error.message.slice(0, MOST_SHOWN) || error.name;
}

async function settle(
  tx: Transaction,
  sender: Sender,
  claimed: claims.Claimed,
  { delivered, askedMs, ...outcome }: Result,
): Promise<void> {
  const { workerId, clock, log, random = Math.random } = sender;
  const { webhook_id } = claimed;
  const sending = await endings.lockSending(tx, webhook_id);
  const now = clock.now();
  if (delivered || !sending) {
    const next = { ended: delivered ? 'delivered' : 'failed' } as const;
    const mine = await endings.noteAttempt(tx, workerId, claimed, { outcome, next, now });
    if (!mine || !sending) return;
    await endings.noteSuccess(tx, webhook_id);
    if (sending.failures >= FAILING_FROM) {
      await endings.bringForward(tx, webhook_id, new Date(now.getTime() + SOON_MS));
    }
    return;
  }
  const after = (failures: number) => new Date(now.getTime() + Math.max(waitAfter(failures, random), askedMs));
  const again = after(claimed.attempts);
  const next = again < claimed.expires_at ? { again } : ({ ended: 'failed' } as const);
  if (!(await endings.noteAttempt(tx, workerId, claimed, { outcome, next, now }))) return;
  // What was sent together with others fails with them, and says nothing new.
  const isNews = claimed.failing || sending.failures < FAILING_FROM;
  const counted = sending.failures + (isNews ? 1 : 0);
  // A receiver that asks to be left alone gets nothing else meanwhile.
  const failures = askedMs > 0 ? Math.max(counted, FAILING_FROM) : counted;
  const since = sending.failing_since ?? now;
  await endings.noteFailure(tx, webhook_id, {
    failures,
    since,
    next: failures >= FAILING_FROM ? after(failures - FAILING_FROM + 1) : undefined,
    isNews,
  });
  if (sending.failures < FAILING_FROM && failures >= FAILING_FROM) {
    const host = new URL(claimed.url).host;
    log.warn({ webhook: webhook_id, host, fault: outcome.fault }, 'A webhook is failing');
  }
  const isLong = now.getTime() - since.getTime() >= DISABLED_AFTER_MS;
  if (outcome.status === GONE) await disable(tx, sender, claimed, 'gone');
  else if (isLong) await disable(tx, sender, claimed, 'failing');
}

/** Switches a webhook off, and tells of it. */
async function disable(
  tx: Transaction,
  { clock, mailer, log }: Sender,
  { webhook_id, url }: claims.Claimed,
  reason: 'failing' | 'gone',
): Promise<void> {
  const clientId = await endings.disable(tx, webhook_id, { reason, now: clock.now() });
  if (clientId === undefined) return;
  log.warn({ webhook: webhook_id, reason }, 'A webhook is disabled');
  const data = { webhook: webhook_id, host: new URL(url).host, reason };
  const administrators = await administratorsOf(tx, [clientId]);
  await mailer.queue(
    tx,
    administrators.map(({ email: to }) => ({ kind: 'webhook_disabled', to, clientId, data })),
  );
  await writingEvent({
    type: WEBHOOK_DISABLED,
    subject: `webhook/${webhook_id}`,
    revised: `webhooks:${webhook_id}`,
    client_id: clientId,
    project_id: null,
    data: JSON.stringify(
      eventData({
        client_id: clientId,
        resources: [{ type: 'webhook', id: webhook_id, name: null }],
        reason,
      }),
    ),
  }).execute(tx.sql);
}

const OF_ACCOUNT = 10;
/** Another webhook of the account can always begin. */
const OF_WEBHOOK = 6;
const HERE = 100;
/** However many receivers are dead, the others have room. */
const HERE_FAILING = 50;
const GIVE_UP_BATCH = 500;
/** Longer than any wait for the next attempt. */
const LATEST_MS = 2 * 3_600_000;

/** The queue of what is to be sent to webhooks: each delivery by one worker at a time. */
export function webhookQueue(sender: Sender): Queue {
  const { database, workerId, clock } = sender;
  const failing = new Set<string>();
  return {
    name: 'webhook deliveries',
    topic: WEBHOOKS,
    table: 'webhook_deliveries',
    isDue: () => claims.anyDue(clock.now()),
    async take(inHand, begin) {
      const now = clock.now();
      const here = HERE - inHand.size;
      if (here <= 0 || !(await holds(database.sql, claims.anyDue(now)))) return false;
      const hereFailing = HERE_FAILING - failing.size;
      const room = { ofAccount: OF_ACCOUNT, ofWebhook: OF_WEBHOOK, here, hereFailing };
      const taken = await claims.takeDue(database, { workerId, now, room });
      for (const claimed of taken) {
        const key = String(claimed.id);
        if (claimed.failing) failing.add(key);
        // An attempt that has begun is ended: nobody knows what the receiver has got.
        const work = () => attemptDelivery(sender, claimed).finally(() => failing.delete(key));
        begin({ key, state: claimed.attempts, work });
      }
      return taken.length > 0;
    },
    claimed: () => claims.claimedBy(database.sql, workerId),
    giveBack: (ids) => claims.giveBack(database.sql, workerId, ids),
    takeFromDead: () => claims.takeFromDead(database.sql),
    async sweep() {
      const now = clock.now();
      const latest = new Date(now.getTime() + LATEST_MS);
      if (!(await holds(database.sql, endings.anyLate({ now, latest })))) return;
      await database.transaction(async (tx) => {
        await endings.bringBack(tx, latest);
        await endings.giveUp(tx, { now, limit: GIVE_UP_BATCH, fault: 'Not sent in time' });
      });
    },
  };
}

/** How long a lost announcement may delay events. */
const LOOK_MS = 1_000;

/** Writes for each event what is to be delivered to whom. Any number of processes share this. */
export function startFanOut(deps: { database: Database; changes: ChangeFeed; clock: Clock; log: Logger }) {
  const { database, changes, clock, log } = deps;
  const reader = createEventReader(database, READER);
  let stopped = false;
  let isListening = false;

  async function tell(tx: Transaction, events: readonly EventRow[]): Promise<void> {
    const clientIds = [...new Set(events.map(({ client_id }) => client_id))];
    const webhooks = (await webhooksFor(tx.sql, clientIds)).map((one) => {
      const matchers = one.types.map(typeMatcher);
      return { ...one, wants: (type: string) => matchers.some((matches) => matches(type)) };
    });
    const told = events.flatMap((event): Told[] => {
      const takers = webhooks.filter(
        (one) =>
          (one.all_accounts || one.client_id === event.client_id) &&
          event.position > one.after_position &&
          one.wants(event.type),
      );
      if (takers.length === 0) return [];
      const { id: event_id, type, subject } = event;
      const body = JSON.stringify(presentedEvent(event));
      return takers.map(({ id, client_id }) => ({ webhook_id: id, client_id, event_id, type, subject, body }));
    });
    if (told.length === 0) return;
    const now = clock.now();
    await insertDeliveries(tx, told, { now, expiresAt: new Date(now.getTime() + DELIVERED_WITHIN_MS) });
    tx.announce(WEBHOOKS);
  }

  const telling: Loop = loop('telling webhooks', LOOK_MS, log, async () => {
    const from = await wantedAfter(database.sql);
    await reader.want(from);
    if (from === undefined) return;
    listen();
    while (!stopped && (await reader.next(tell)) > 0);
  });

  /** Looks again at the next event. */
  function listen(): void {
    if (isListening) return;
    isListening = true;
    void reader.news().then(() => {
      isListening = false;
      if (!stopped) telling.now();
    });
  }
  const look = () => telling.now();
  changes.on(WEBHOOKS, look, look);

  return {
    async stop() {
      stopped = true;
      reader.stop();
      await telling.stop();
    },
  };
}

/** What workers measure of what they send to webhooks. */
export interface SendingMeasures {
  /** An attempt has ended. `refused`: the receiver gave another answer than 2xx. `failed`: there was none. */
  attempted(attempt: { outcome: 'delivered' | 'refused' | 'failed'; seconds: number }): void;
}

const BUCKETS = [0.01, 0.05, 0.25, 1, 2.5, 5, 10];

export function createSendingMeasures(registry: Registry): SendingMeasures {
  const attempts = new Histogram({
    name: 'tradewind_webhook_attempt_duration_seconds',
    help: 'Attempts to send an event to a webhook',
    labelNames: ['outcome'],
    buckets: BUCKETS,
    registers: [registry],
  });
  return { attempted: ({ outcome, seconds }) => attempts.observe({ outcome }, seconds) };
}
