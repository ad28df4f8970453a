import { type Insertable, type Selectable, type SqlBool, sql } from 'kysely';
import type { Sql, Transaction } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';

/** Whose webhooks; undefined for those of all accounts. */
export type Owner = number | undefined;

/** What is shown of a webhook. Secrets are read only where something is signed. */
export type WebhookRow = Omit<
  Selectable<Tables['webhooks']>,
  'secret' | 'previous_secret' | 'created_by' | 'after_position' | 'revision'
> & { failing_since: Date | null };

const SHOWN = [
  'webhooks.id',
  'webhooks.client_id',
  'webhooks.all_accounts',
  'webhooks.url',
  'webhooks.types',
  'webhooks.description',
  'webhooks.previous_until',
  'webhooks.enabled',
  'webhooks.disabled_reason',
  'webhooks.created_at',
  'webhooks.updated_at',
  'webhook_sending.failing_since',
] as const;

/** Accounts don't see what the platform administrator has made. */
const ofOwner = (owner: Owner) =>
  owner === undefined ? sql<SqlBool>`true` : sql<SqlBool>`webhooks.client_id = ${owner} and not all_accounts`;

const webhooksOf = (db: Sql, owner: Owner) =>
  db
    .selectFrom('webhooks')
    .innerJoin('webhook_sending', 'webhook_sending.webhook_id', 'webhooks.id')
    .select(SHOWN)
    .where(ofOwner(owner));

export async function listWebhooks(
  db: Sql,
  owner: Owner,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<WebhookRow[]> {
  let rows = webhooksOf(db, owner);
  if (after !== undefined) rows = rows.where('webhooks.id', '>', after);
  return rows.orderBy('webhooks.id').limit(limit).execute();
}

export async function findWebhook(db: Sql, owner: Owner, id: string): Promise<WebhookRow | undefined> {
  return webhooksOf(db, owner).where('webhooks.id', '=', id).executeTakeFirst();
}

/** Also locks how it goes. Returns undefined if there is no such webhook. */
export async function lockWebhook(tx: Transaction, owner: Owner, id: string): Promise<WebhookRow | undefined> {
  return webhooksOf(tx.sql, owner).where('webhooks.id', '=', id).forUpdate().executeTakeFirst();
}

/** Counts the webhooks of an account, and lets nobody else make one for it before the transaction ends. */
export async function countForNew(tx: Transaction, clientId: number): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`tradewind webhooks ${clientId}`}, 0))`.execute(tx.sql);
  const { count } = await tx.sql
    .selectFrom('webhooks')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('client_id', '=', clientId)
    .executeTakeFirstOrThrow();
  return count;
}

export async function insertWebhook(tx: Transaction, row: Omit<Insertable<Tables['webhooks']>, 'revision'>) {
  await tx.sql.insertInto('webhooks').values(row).execute();
  await tx.sql.insertInto('webhook_sending').values({ webhook_id: row.id, client_id: row.client_id }).execute();
}

export async function updateWebhook(
  tx: Transaction,
  id: string,
  change: Partial<Omit<Selectable<Tables['webhooks']>, 'id' | 'revision'>>,
): Promise<void> {
  await tx.sql.updateTable('webhooks').set(change).where('id', '=', id).execute();
}

/** Forgets former failures: what waits is sent at once. */
export async function beginAnew(tx: Transaction, id: string): Promise<void> {
  await tx.sql
    .updateTable('webhook_sending')
    .set({ failures: 0, failing_since: null, next_at: sql`'-infinity'::timestamptz` })
    .where('webhook_id', '=', id)
    .execute();
  await sql`
    update webhook_deliveries set due_at = '-infinity'
    where webhook_id = ${id} and state = 'pending' and due_at is not null and worker_id is null`.execute(tx.sql);
}

/** Lets workers look at the webhook at once, even if it is failing. */
export async function lookNow(tx: Transaction, id: string): Promise<void> {
  await tx.sql
    .updateTable('webhook_sending')
    .set({ next_at: sql`'-infinity'::timestamptz` })
    .where('webhook_id', '=', id)
    .execute();
}

/** Its deliveries stay until they are old, and are not sent. */
export async function deleteWebhook(tx: Transaction, id: string): Promise<void> {
  await tx.sql.deleteFrom('webhooks').where('id', '=', id).execute();
}

/** The secrets of a webhook, encrypted. */
export async function secretsOf(tx: Transaction, id: string): Promise<{ secret: string | null }> {
  return tx.sql.selectFrom('webhooks').select('secret').where('id', '=', id).executeTakeFirstOrThrow();
}

export type DeliveryRow = Pick<
  Selectable<Tables['webhook_deliveries']>,
  | 'id'
  | 'event_id'
  | 'type'
  | 'subject'
  | 'state'
  | 'attempts'
  | 'created_at'
  | 'attempted_at'
  | 'ended_at'
  | 'status'
  | 'answer'
  | 'fault'
> & { next_at: Date | null };

const deliveriesOf = (db: Sql, webhookId: string) =>
  db
    .selectFrom('webhook_deliveries')
    .select(['id', 'event_id', 'type', 'subject', 'state', 'attempts', 'created_at', 'attempted_at', 'ended_at'])
    .select(['status', 'answer', 'fault'])
    // What is to be sent at once may have a time before all others.
    .select(sql<Date | null>`case when due_at is not null then greatest(due_at, created_at) end`.as('next_at'))
    .where('webhook_id', '=', webhookId);

/** The newest first. */
export async function listDeliveries(
  db: Sql,
  webhookId: string,
  page: { state: DeliveryRow['state'] | undefined; before: number | undefined; limit: number },
): Promise<DeliveryRow[]> {
  let rows = deliveriesOf(db, webhookId);
  if (page.state !== undefined) rows = rows.where('state', '=', page.state);
  if (page.before !== undefined) rows = rows.where('id', '<', page.before);
  return rows.orderBy('id', 'desc').limit(page.limit).execute();
}

export async function findDelivery(db: Sql, webhookId: string, id: number) {
  return deliveriesOf(db, webhookId).select(['body', 'worker_id']).where('id', '=', id).executeTakeFirst();
}

/** Sends it at once, whatever waits. */
export async function sendNow(tx: Transaction, id: number, expiresAt: Date): Promise<void> {
  await sql`
    update webhook_deliveries set state = 'pending', due_at = '-infinity', ended_at = null,
      in_line = in_line and state = 'pending',
      expires_at = case when state = 'pending' then expires_at else ${expiresAt} end
    where id = ${id}`.execute(tx.sql);
}

export type NewDelivery = Pick<
  Insertable<Tables['webhook_deliveries']>,
  'webhook_id' | 'client_id' | 'event_id' | 'type' | 'subject' | 'body' | 'expires_at' | 'created_at'
>;

/** Adds something that is sent at once, and that nothing waits for. Returns its ID. */
export async function insertUrgent(tx: Transaction, delivery: NewDelivery): Promise<number> {
  const { id } = await tx.sql
    .insertInto('webhook_deliveries')
    .values({ ...delivery, in_line: false, state: 'pending', due_at: sql`'-infinity'::timestamptz` })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** How much is to be sent that nothing waits for. */
export async function countUrgent(tx: Transaction, webhookId: string): Promise<number> {
  const { count } = await tx.sql
    .selectFrom('webhook_deliveries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('webhook_id', '=', webhookId)
    .where('state', '=', 'pending')
    .where('in_line', '=', false)
    .executeTakeFirstOrThrow();
  return count;
}

/** The topic that tells workers of something to send, and of other webhooks. */
export const WEBHOOKS = 'webhooks';
/** Under this name events are read for webhooks. */
export const READER = 'webhooks';
/** How long something is sent again and again. */
export const DELIVERED_WITHIN_MS = 24 * 3_600_000;
