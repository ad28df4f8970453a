import { type SqlBool, sql } from 'kysely';
import type { Sql, Transaction } from '../../../db/database.ts';

/** A webhook that is to be told of events. */
export interface Wanting {
  id: string;
  client_id: number;
  all_accounts: boolean;
  types: string[];
  after_position: number;
}

/**
 * Whether the maker of a webhook may see the events of all accounts, if it was made for them: for webhooks as `webhooks`.
 */
export const MAY_STILL_SEE = sql<SqlBool>`(not all_accounts or exists (
  select from users join client_users on client_users.user_id = users.id and client_users.client_id = users.client_id
  where users.id = created_by and users.client_id = webhooks.client_id and platform_administrator
    and users.deleted_at is null and users.is_active and client_users.is_active and client_users.role_id = 1))`;

/** Returns the webhooks that want events of these accounts. */
export async function webhooksFor(db: Sql, clientIds: readonly number[]): Promise<Wanting[]> {
  const { rows } = await sql<Wanting>`
    select webhooks.id, client_id, all_accounts, types, after_position
    from webhooks join clients on clients.id = client_id
    where enabled and clients.deleted_at is null and (client_id = any(${[...clientIds]}::bigint[]) or all_accounts)
      and ${MAY_STILL_SEE}`.execute(db);
  return rows;
}

/** Returns the position after which somebody wants events; undefined if nobody does. */
export async function wantedAfter(db: Sql): Promise<number | undefined> {
  const { rows } = await sql<{ position: number | null }>`
    select min(after_position) as position from webhooks where enabled`.execute(db);
  return rows[0]?.position ?? undefined;
}

/** Something to deliver, in the order of events. */
export interface Told {
  webhook_id: string;
  client_id: number;
  event_id: string;
  type: string;
  subject: string;
  body: string;
}

/**
 * Writes what is to be delivered. The first of each subject is due now, unless an earlier one is pending; the others wait
 * for it. Locks first how it goes with each webhook, so that an earlier one doesn't end at the same time.
 */
export async function insertDeliveries(
  tx: Transaction,
  told: readonly Told[],
  { now, expiresAt }: { now: Date; expiresAt: Date },
): Promise<void> {
  const ids = [...new Set(told.map((one) => one.webhook_id))];
  await sql`
    select from webhook_sending where webhook_id = any(${ids}::uuid[]) order by webhook_id for update`.execute(tx.sql);
  const column = (name: keyof Told) => told.map((one) => one[name]);
  await sql`
    insert into webhook_deliveries (webhook_id, client_id, event_id, type, subject, body, in_line, state, due_at,
      expires_at, created_at)
    select webhook_id, client_id, event_id, type, subject, body, true, 'pending',
      case when row_number() over (partition by webhook_id, subject order by place) = 1 and not exists (
        select from webhook_deliveries as earlier
        where earlier.webhook_id = told.webhook_id and earlier.subject = told.subject and state = 'pending' and in_line
      ) then ${now}::timestamptz end, ${expiresAt}, ${now}
    from unnest(${column('webhook_id')}::uuid[], ${column('client_id')}::bigint[], ${column('event_id')}::uuid[],
      ${column('type')}::text[], ${column('subject')}::text[], ${column('body')}::text[])
      with ordinality as told (webhook_id, client_id, event_id, type, subject, body, place)
    order by place
    on conflict (webhook_id, event_id) do nothing`.execute(tx.sql);
  // One that is failing is tried again when its time comes.
  await sql`
    update webhook_sending set next_at = '-infinity'
    where webhook_id = any(${ids}::uuid[]) and (failures < ${FAILING_FROM} or next_at is null)`.execute(tx.sql);
}

/** After so many failures in a row, a webhook is tried with one attempt at a time. */
export const FAILING_FROM = 3;
