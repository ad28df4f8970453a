import type { ListedAction, UserActions } from '../../cloud/ground/user-actions/service.ts';
import type { Database } from '../../db/database.ts';
import { NotFoundError } from '../../lib/errors.ts';
import { pagesAround } from '../../lib/page-address.ts';
import { isoMicros } from '../../lib/timestamps.ts';
import type { PageQuery } from '../../lib/wire.ts';
import type { Principal } from '../../requests/principal.ts';
import { reachOf } from '../../requests/principal.ts';
import type { AccountRequest, AccountRequestPage, StatusChangePage } from './schema.ts';
import * as store from './store.ts';

const FEDERATION = 'TRADEWIND';

/** Shows recorded user actions in the form of the account area, and status changes of accounts. */
export interface ActivityLog {
  /** Lists changes of the caller's account; for resellers also of their clients. */
  statusChanges(principal: Principal, query: PageQuery): Promise<StatusChangePage>;
  /** Lists changing requests in the caller's account. */
  requests(principal: Principal, query: PageQuery): Promise<AccountRequestPage>;
  /** @throws NotFoundError */
  request(principal: Principal, id: number): Promise<AccountRequest>;
}

export function createActivityLog(deps: {
  database: Database;
  userActions: Pick<UserActions, 'requests'>;
}): ActivityLog {
  const { database, userActions } = deps;

  return {
    async statusChanges(principal, { limit = 100, offset = 0 }) {
      const page = { limit, offset };
      const { count, rows } = await store.listStatusChanges(database.sql, reachOf(principal), page);
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
    },

    async requests(principal, { limit = 100, offset = 0 }) {
      const page = { limit, offset };
      const { count, rows } = await userActions.requests(principal, page);
      return {
        count,
        ...pagesAround('/iam/activity_log/requests', page, count),
        result: rows.map(presented),
      };
    },

    async request(principal, id) {
      const row = await store.findRequest(database.sql, principal.clientId, id);
      if (!row) throw new NotFoundError('Request', id);
      return presented(row);
    },
  };
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
