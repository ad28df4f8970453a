import { isoMicros } from '../../lib/timestamps.ts';
import { roleOf } from '../identity/schema.ts';
import type { ApiToken } from './schema.ts';
import type { TokenRow } from './store.ts';

export function presentedToken(row: TokenRow, deleted: boolean, now: Date): ApiToken {
  const { id, name } = roleOf(row.role_id);
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    exp_date: row.expires_at && isoMicros(row.expires_at),
    expired: row.expires_at !== null && row.expires_at <= now,
    deleted,
    created: isoMicros(row.created_at),
    // Clients expect a text here and fail on null.
    last_usage: isoMicros(row.last_used_at ?? row.created_at),
    client_user: {
      user_id: row.user_id,
      user_name: row.user_name ?? row.user_email,
      user_email: row.user_email,
      client_id: row.client_id,
      deleted: row.user_deleted_at !== null,
      role: { id, name },
    },
  };
}
