import type { Database } from '../../../db/database.ts';
import { periodOf } from '../../../lib/calendar-time.ts';
import type { Page } from '../../../lib/page.ts';
import type { ActionLog } from '../../../requests/action-log.ts';
import type { Principal } from '../../../requests/principal.ts';
import * as published from './published-store.ts';
import type { RequestListQuery } from './requests-schema.ts';
import type { UserActionListQuery } from './schema.ts';
import * as store from './store.ts';

export type { ListedAction } from './store.ts';

/** Shows what is recorded of requests for a change. */
export interface UserActions {
  /**
   * Lists the accepted changes of the caller's account, as in the published contract.
   * @throws InvalidError for a time that no calendar has
   */
  list(principal: Principal, query: UserActionListQuery): Promise<Page<store.ListedAction>>;
  /** Lists everything recorded for the caller's account. @throws InvalidError for a time that no calendar has */
  requests(principal: Principal, query: RequestListQuery): Promise<Page<store.ListedAction>>;
}

export function createUserActions(deps: {
  database: Database;
  actionLog: Pick<ActionLog, 'flush'>;
}): UserActions {
  const { database, actionLog } = deps;
  return {
    list: async ({ clientId }, query) =>
      published.listPublished(database.sql, { ...query, ...periodOf(query), clientId }),
    async requests({ clientId }, query) {
      // Include refusals not yet written.
      await actionLog.flush();
      return store.listRequests(database.sql, { ...query, ...periodOf(query), clientId });
    },
  };
}
