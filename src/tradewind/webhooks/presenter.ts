import type { Delivery, Webhook } from './schema.ts';
import type { DeliveryRow, WebhookRow } from './store.ts';

const textOf = (time: Date | null): string | null => time?.toISOString() ?? null;

export function presentedWebhook(row: WebhookRow, now: Date): Webhook {
  const { id, client_id, url, types, description, enabled, all_accounts, disabled_reason } = row;
  const { failing_since, previous_until, created_at, updated_at } = row;
  return {
    id,
    client_id,
    url,
    types,
    description,
    enabled,
    all_accounts,
    disabled_reason,
    failing_since: textOf(failing_since),
    previous_secret_until: previous_until && previous_until > now ? previous_until.toISOString() : null,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}

export function presentedDelivery(row: DeliveryRow): Delivery {
  const { id, event_id, type, subject, state, attempts, status, answer, fault } = row;
  return {
    id,
    event_id,
    type,
    subject,
    state,
    attempts,
    created_at: row.created_at.toISOString(),
    attempted_at: textOf(row.attempted_at),
    next_attempt_at: textOf(row.next_at),
    ended_at: textOf(row.ended_at),
    response_status: status,
    response_text: answer,
    error: fault,
  };
}
