import type { Database, Transaction } from '../../../db/database.ts';
import { periodOf } from '../../../lib/calendar-time.ts';
import { onOwnBehalf } from '../../../lib/on-behalf.ts';
import type { Page } from '../../../lib/page.ts';
import type { Principal } from '../../../requests/principal.ts';
import type { NewEvent } from '../../../tradewind/events/in-transaction.ts';
import * as published from './published-store.ts';
import type { RequestListQuery } from './requests-schema.ts';
import type { UserActionListQuery } from './schema.ts';
import * as store from './store.ts';

export type { ListedAction, NewUserAction } from './store.ts';

/** How many actions may wait to be written. It takes an unavailable database to get there. */
const MOST_WAITING = 10_000;
const BATCH = 1_000;

/** Records every request for a change: who, what, when, and the outcome. */
export interface UserActions {
  /**
   * Records an accepted change in its own transaction, with the event that tells of it: all of it is stored or nothing.
   */
  record(tx: Transaction, action: store.NewUserAction, event: NewEvent | undefined): Promise<void>;
  /** Records a request that changed nothing. The next `flush` writes it. */
  noteLater(action: store.NewUserAction): void;
  /** Writes the waiting actions. Those that can't be written stay; `lost` counts those that were dropped. */
  flush(): Promise<{ lost: number }>;
  /**
   * Lists the accepted changes of the caller's account, as in the published contract.
   * @throws InvalidError for a time that no calendar has
   */
  list(principal: Principal, query: UserActionListQuery): Promise<Page<store.ListedAction>>;
  /** Lists everything recorded for the caller's account. @throws InvalidError for a time that no calendar has */
  requests(principal: Principal, query: RequestListQuery): Promise<Page<store.ListedAction>>;
}

export function createUserActions({ database }: { database: Database }): UserActions {
  let waiting: store.NewUserAction[] = [];
  let lost = 0;
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      await store.insertActions(database.sql, batch);
      waiting = waiting.slice(batch.length);
    }
  }

  async function flush(): Promise<{ lost: number }> {
    // Writes run one after the other, even after a failure, so that no action is written twice. They are those of all accounts.
    writing = onOwnBehalf(() => writing.then(write, write));
    await writing;
    const given = lost;
    lost = 0;
    return { lost: given };
  }

  return {
    record: (tx, action, event) => store.insertAction(tx.sql, action, event),
    noteLater(action) {
      if (waiting.length < MOST_WAITING) waiting.push(action);
      else lost++;
    },
    flush,
    list: async ({ clientId }, query) =>
      published.listPublished(database.sql, { ...query, ...periodOf(query), clientId }),
    async requests({ clientId }, query) {
      // Include refusals not yet written.
      if (waiting.length > 0) await flush();
      return store.listRequests(database.sql, { ...query, ...periodOf(query), clientId });
    },
  };
}
