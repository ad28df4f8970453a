import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import { announce } from '../../db/changes.ts';
import type { Transaction } from '../../db/database.ts';
import { ConflictError, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { receiverProblem } from '../../lib/outside-request.ts';
import { isId, pageToken, placeOf } from '../../lib/page.ts';
import { noteAccount } from '../../lib/request-context.ts';
import type { Platform } from '../../platform.ts';
import { WEBHOOK_TEST } from '../../requests/event-types.ts';
import { eventData } from '../../requests/events.ts';
import type { Principal } from '../../requests/principal.ts';
import { presentedEvent, presentPosition, startReading, typeProblems } from '../events/service.ts';
import * as schema from './schema.ts';
import * as store from './store.ts';
import { DELIVERED_WITHIN_MS, READER, WEBHOOKS } from './store.ts';

/*
 * Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks), with symmetric signatures. The published
 * library verifies them in the tests. It is not used here: it hashes in JavaScript what node:crypto has built in.
 */

const PREFIX = 'whsec_';
const BYTES = 32;

export const newSecret = (): string => PREFIX + randomBytes(BYTES).toString('base64');

/** Whether a text is a secret that every library for the standard can decode. */
export function isSecret(text: string): boolean {
  const encoded = text.slice(PREFIX.length);
  const key = Buffer.from(encoded, 'base64');
  const isExact = key.toString('base64') === encoded;
  return text.startsWith(PREFIX) && isExact && key.length >= 24 && key.length <= 64;
}

export interface Message {
  id: string;
  body: string;
  /** When it is sent. Receivers refuse what is minutes old. */
  at: Date;
}

/** Returns the headers that prove where a message comes from: a signature for each of the secrets. */
export function signedHeaders({ id, body, at }: Message, secrets: readonly string[]): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}

/*
 * Where an account wants its events sent. Every function throws NotFoundError for an unknown webhook and for that of another
 * account. The platform administrator has those of all accounts.
 */

const MOST_OF_ACCOUNT = 20;
const MOST_TESTS = 20;
const TESTED_WITHIN_MS = 60_000;
const OVERLAP_S = 86_400;

const after = (tx: Transaction, ms: number) => new Date(tx.now.getTime() + ms);
const tellWorkers = (tx: Transaction) => announce(tx.client, WEBHOOKS, '');

function requireUsable(on: Platform, input: { url?: string; secret?: string; types?: string[] }): void {
  const { url, secret, types = [] } = input;
  const unknown = typeProblems(types);
  if (unknown.length > 0) throw new InvalidError(unknown);
  const problem = url === undefined ? undefined : receiverProblem(url, on.webhookHosts);
  if (problem !== undefined) throw new InvalidError({ url: [problem] });
  if (secret !== undefined && !isSecret(secret)) {
    throw new InvalidError({
      secret: ['Must be whsec_ and then base64 of 24 to 64 bytes, with its padding.'],
    });
  }
}

async function find(on: Platform, principal: Principal, id: string): Promise<store.WebhookRow> {
  return found(isUuid(id) ? await store.findWebhook(on.database.sql, ownerOf(principal), id) : undefined, id);
}

/** Changes a webhook, and records whose it is. */
function accept<T>(
  on: Platform,
  principal: Principal,
  id: string,
  work: (tx: Transaction, webhook: store.WebhookRow) => Promise<T>,
  before: (tx: Transaction) => Promise<void> = async () => {},
): Promise<T> {
  return on.database.accept(async (tx) => {
    await before(tx);
    const locked = isUuid(id) ? await store.lockWebhook(tx, ownerOf(principal), id) : undefined;
    const webhook = found(locked, id);
    noteAccount(webhook.client_id);
    return work(tx, webhook);
  });
}

const seal = (on: Platform, column: 'secret' | 'previous_secret', id: string, value: string) =>
  on.secrets.seal(`webhooks.${column}`, [id], value);

async function read(tx: Transaction, principal: Principal, id: string): Promise<schema.Webhook> {
  return schema.presentedWebhook(found(await store.findWebhook(tx.sql, ownerOf(principal), id), id), tx.now);
}

async function delivery(tx: Transaction, webhookId: string, id: number): Promise<schema.Delivery> {
  return schema.presentedDelivery(foundDelivery(await store.findDelivery(tx.sql, webhookId, id), id));
}

/** Throws the same error whether the webhook exists or not. */
export async function requireOwnAccount(on: Platform, principal: Principal, id: string): Promise<void> {
  await find(on, principal, id);
}

export async function listWebhooks(
  on: Platform,
  principal: Principal,
  { limit = 100, page_token }: schema.WebhookListQuery,
): Promise<schema.WebhookList> {
  const rows = await store.listWebhooks(on.database.sql, ownerOf(principal), {
    after: placeOf(page_token, (place): place is string => typeof place === 'string' && isUuid(place)),
    limit: limit + 1,
  });
  const now = on.clock.now();
  const results = rows.slice(0, limit).map((row) => schema.presentedWebhook(row, now));
  return { results, next_page_token: tokenAfter(rows, limit) };
}

/** Events are sent from now on. @throws InvalidError, ConflictError if the account has too many */
export async function createWebhook(
  on: Platform,
  principal: Principal,
  { url, types, description = '', secret = newSecret() }: schema.WebhookInput,
): Promise<schema.NewWebhook> {
  requireUsable(on, { url, secret, types });
  const id = v7();
  return on.database.accept(async (tx) => {
    if ((await store.countForNew(tx, principal.clientId)) >= MOST_OF_ACCOUNT) {
      throw new ConflictError(
        `The account has ${MOST_OF_ACCOUNT} webhooks, which is the most; delete one, or let one have several types`,
      );
    }
    const from = await presentPosition(tx);
    await startReading(tx, READER, from);
    await store.insertWebhook(tx, {
      id,
      client_id: principal.clientId,
      created_by: principal.userId,
      all_accounts: principal.platformAdministrator,
      url,
      types,
      description,
      secret: seal(on, 'secret', id, secret),
      previous_secret: null,
      previous_until: null,
      enabled: true,
      disabled_reason: null,
      after_position: from,
      created_at: tx.now,
      updated_at: tx.now,
    });
    tx.made(id);
    await tellWorkers(tx);
    return { ...(await read(tx, principal, id)), secret };
  });
}

export const getWebhook = async (on: Platform, principal: Principal, id: string): Promise<schema.Webhook> =>
  schema.presentedWebhook(await find(on, principal, id), on.clock.now());

/** @throws InvalidError */
export async function changeWebhook(
  on: Platform,
  principal: Principal,
  id: string,
  change: schema.WebhookChange,
): Promise<schema.Webhook> {
  const { url, types } = change;
  requireUsable(on, { ...(url !== undefined && { url }), ...(types && { types }) });
  let from = 0;
  const changed = async (tx: Transaction, webhook: store.WebhookRow) => {
    const isNew = change.enabled === true && !webhook.enabled;
    const elsewhere = change.url !== undefined && change.url !== webhook.url;
    await store.updateWebhook(tx, id, {
      ...change,
      ...(isNew && { after_position: from, disabled_reason: null }),
      updated_at: tx.now,
    });
    if (isNew || elsewhere) await store.beginAnew(tx, id);
    await tellWorkers(tx);
    return read(tx, principal, id);
  };
  // Before the webhook is locked, as readers of events do.
  return accept(on, principal, id, changed, async (tx) => {
    if (!change.enabled) return;
    from = await presentPosition(tx);
    await startReading(tx, READER, from);
  });
}

export const deleteWebhook = (on: Platform, principal: Principal, id: string): Promise<void> =>
  accept(on, principal, id, async (tx) => {
    await store.deleteWebhook(tx, id);
    await tellWorkers(tx);
  });

/** Signs with another secret, and for a while also with the former one. @throws InvalidError */
export async function rotateWebhook(
  on: Platform,
  principal: Principal,
  id: string,
  { secret = newSecret(), overlap_s = OVERLAP_S }: schema.RotateSecret,
): Promise<schema.NewWebhook> {
  requireUsable(on, { secret });
  return accept(on, principal, id, async (tx) => {
    const { secret: kept } = await store.secretsOf(tx, id);
    const former = kept === null ? undefined : await on.secrets.open('webhooks.secret', [id], kept);
    const overlaps = former !== undefined && overlap_s > 0;
    await store.updateWebhook(tx, id, {
      secret: seal(on, 'secret', id, secret),
      previous_secret: overlaps ? seal(on, 'previous_secret', id, former) : null,
      previous_until: overlaps ? after(tx, overlap_s * 1_000) : null,
      updated_at: tx.now,
    });
    return { ...(await read(tx, principal, id)), secret };
  });
}

/** Sends an event that only tests the webhook, also if it is disabled. @throws ConflictError for too many */
export const testWebhook = (on: Platform, principal: Principal, id: string): Promise<schema.Delivery> =>
  accept(on, principal, id, async (tx, { client_id }) => {
    if ((await store.countUrgent(tx, id)) >= MOST_TESTS) {
      throw new ConflictError(`${MOST_TESTS} tests wait to be sent; try again in a minute`);
    }
    const event = {
      id: randomUUID(),
      type: WEBHOOK_TEST,
      subject: `webhook/${id}`,
      time: tx.now,
      data: testData(principal, { id, client_id }),
    };
    const made = await store.insertUrgent(tx, {
      webhook_id: id,
      client_id,
      event_id: event.id,
      type: event.type,
      subject: event.subject,
      body: JSON.stringify(presentedEvent(event)),
      created_at: tx.now,
      expires_at: after(tx, TESTED_WITHIN_MS),
    });
    await store.lookNow(tx, id);
    await tellWorkers(tx);
    return delivery(tx, id, made);
  });

export async function listDeliveries(
  on: Platform,
  principal: Principal,
  id: string,
  { limit = 100, page_token, state }: schema.DeliveryListQuery,
): Promise<schema.DeliveryList> {
  const { id: webhookId } = await find(on, principal, id);
  const rows = await store.listDeliveries(on.database.sql, webhookId, {
    state,
    before: placeOf(page_token, isId),
    limit: limit + 1,
  });
  return {
    results: rows.slice(0, limit).map(schema.presentedDelivery),
    next_page_token: tokenAfter(rows, limit),
  };
}

export async function getDelivery(
  on: Platform,
  principal: Principal,
  id: string,
  deliveryId: number,
): Promise<schema.DeliveryWithEvent> {
  const { id: webhookId } = await find(on, principal, id);
  const row = foundDelivery(await store.findDelivery(on.database.sql, webhookId, deliveryId), deliveryId);
  return { ...schema.presentedDelivery(row), event: JSON.parse(row.body) };
}

/** Sends it again, or what is still pending at once. @throws ConflictError if it waits for another one */
export const redeliver = (
  on: Platform,
  principal: Principal,
  id: string,
  deliveryId: number,
): Promise<schema.Delivery> =>
  accept(on, principal, id, async (tx) => {
    const row = foundDelivery(await store.findDelivery(tx.sql, id, deliveryId), deliveryId);
    if (row.state === 'pending' && row.next_at === null) {
      throw new ConflictError(
        `Delivery ${deliveryId} waits for an earlier event of ${row.subject}; redeliver that one instead`,
      );
    }
    // What a worker is sending right now needs no more.
    if (row.worker_id === null) await store.sendNow(tx, deliveryId, after(tx, DELIVERED_WITHIN_MS));
    await store.lookNow(tx, id);
    await tellWorkers(tx);
    return delivery(tx, id, deliveryId);
  });

const ownerOf = ({ platformAdministrator, clientId }: Principal): store.Owner =>
  platformAdministrator ? undefined : clientId;

function found(row: store.WebhookRow | undefined, id: string): store.WebhookRow {
  if (!row) throw new NotFoundError('Webhook', id);
  return row;
}

function foundDelivery<Row>(row: Row | undefined, id: number): Row {
  if (row === undefined) throw new NotFoundError('Delivery', id);
  return row;
}

/** `rows` has one more than fits, if there are more. */
function tokenAfter(rows: readonly { id: string | number }[], limit: number): string | null {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return last ? pageToken(last.id) : null;
}

function testData(principal: Principal, { id, client_id }: { id: string; client_id: number }) {
  const actor = {
    user_id: principal.userId,
    client_id: principal.clientId,
    token_id: principal.tokenId ?? null,
  };
  const resources = [{ type: 'webhook', id, name: null }];
  return { ...eventData({ client_id, resources, actor }), revision: null };
}

/** Lets all webhooks get what happens from now on. For webhooks that were not there before, such as those of a snapshot. */
export async function sendFromNowOn(tx: Transaction): Promise<void> {
  const after_position = await presentPosition(tx);
  await tx.sql.updateTable('webhooks').set({ after_position }).execute();
}

export async function deleteWebhooksOf(tx: Transaction, clientId: number): Promise<void> {
  await tx.sql.deleteFrom('webhooks').where('client_id', '=', clientId).execute();
}
