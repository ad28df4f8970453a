import { type ListedAction, listRequests } from '../../cloud/ground/user-actions/service.ts';
import { NotFoundError } from '../../lib/errors.ts';
import { pagesAround } from '../../lib/page.ts';
import { isoMicros } from '../../lib/time.ts';
import type { PageQuery } from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import { type Principal, reachOf } from '../../requests/principal.ts';
import type { AccountRequest, AccountRequestPage, StatusChangePage } from './schema.ts';
import * as store from './store.ts';

/* Shows recorded user actions in the form of the account area, and status changes of accounts. */

const FEDERATION = 'TRADEWIND';

/** Lists changes of the caller's account; for resellers also of their clients. */
export async function listStatusChanges(
  on: Platform,
  principal: Principal,
  { limit = 100, offset = 0 }: PageQuery,
): Promise<StatusChangePage> {
  const page = { limit, offset };
  const { count, rows } = await store.listStatusChanges(on.database.sql, reachOf(principal), page);
  return {
    count,
    ...pagesAround('/iam/activity_log/account_status_changes', page, count),
    result: rows.map((row) => ({
      id: row.id,
      status_change_at: isoMicros(row.changed_at),
      old_status: row.old_status,
      new_status: row.new_status,
      federation_id: FEDERATION,
      client: row.client_id,
    })),
  };
}

/** Lists changing requests in the caller's account. */
export async function listLoggedRequests(
  on: Platform,
  principal: Principal,
  { limit = 100, offset = 0 }: PageQuery,
): Promise<AccountRequestPage> {
  const page = { limit, offset };
  const { count, rows } = await listRequests(on, principal, page);
  return {
    count,
    ...pagesAround('/iam/activity_log/requests', page, count),
    result: rows.map(presented),
  };
}

/** @throws NotFoundError */
export async function getLoggedRequest(on: Platform, principal: Principal, id: number): Promise<AccountRequest> {
  const row = await store.findRequest(on.database.sql, principal.clientId, id);
  if (!row) throw new NotFoundError('Request', id);
  return presented(row);
}

function presented(row: ListedAction): AccountRequest {
  return {
    id: row.id,
    actions: row.operation,
    data: '',
    user_email: row.email ?? '',
    client: row.client_id,
    token: row.token_id ?? 0,
    requested_at: isoMicros(row.timestamp),
    path: row.path,
    remote_ip_address: row.source_user_ip,
    host: '',
    method: row.method,
    query_params: '',
    status_code: row.status,
    reverted: false,
    user: row.user_id,
  };
}
