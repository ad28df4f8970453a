import type { Database, Transaction } from '../db/database.ts';
import { onOwnBehalf } from '../lib/request-context.ts';
import { insertAction, insertActions, type NewUserAction } from './action-store.ts';
import type { NewEvent } from './events.ts';

/** How many actions may wait to be written. It takes an unavailable database to get there. */
const MOST_WAITING = 10_000;
const BATCH = 1_000;

/** Records every request for a change: who, what, when, and the outcome. */
export interface ActionLog {
  /**
   * Records an accepted change in its own transaction, with the event that tells of it: all of it is stored or nothing.
   */
  record(tx: Transaction, action: NewUserAction, event: NewEvent | undefined): Promise<void>;
  /** Records a request that changed nothing. The next `flush` writes it. */
  noteLater(action: NewUserAction): void;
  /** Writes the waiting actions. Those that can't be written stay; `lost` counts those that were dropped. */
  flush(): Promise<{ lost: number }>;
}

export function createActionLog({ database }: { database: Database }): ActionLog {
  let waiting: NewUserAction[] = [];
  let lost = 0;
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      await insertActions(database.sql, batch);
      waiting = waiting.slice(batch.length);
    }
  }

  return {
    record: (tx, action, event) => insertAction(tx.sql, action, event),
    noteLater(action) {
      if (waiting.length < MOST_WAITING) waiting.push(action);
      else lost++;
    },
    async flush() {
      // Writes run one after the other, even after a failure, so that no action is written twice. They are those of all accounts.
      writing = onOwnBehalf(() => writing.then(write, write));
      await writing;
      const given = lost;
      lost = 0;
      return { lost: given };
    },
  };
}
