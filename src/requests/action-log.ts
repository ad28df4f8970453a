import { type Insertable, sql as raw } from 'kysely';
import type { Database, Sql, Transaction } from '../db/database.ts';
import { compiledQuery } from '../db/statements.ts';
import type { Tables } from '../db/tables.ts';
import { onOwnBehalf } from '../lib/request-context.ts';
import { type NewEvent, writingEvent } from './events.ts';

type Written = Omit<Insertable<Tables['user_actions']>, 'id' | 'acknowledged'>;
/** Fields for the audit log, of what is no accepted request. */
type Audited = 'event_type' | 'subject' | 'origin' | 'reason' | 'attempts';
export type NewUserAction = Omit<Written, Audited> & Partial<Pick<Written, Audited>>;

const rowOf = (args: NewUserAction) => ({
  client_id: args.client_id,
  user_id: args.user_id,
  token_id: args.token_id,
  request_id: args.request_id,
  operation: args.operation,
  method: args.method,
  path: args.path,
  project_id: args.project_id,
  region_id: args.region_id,
  task_id: args.task_id,
  source_user_ip: args.source_user_ip,
  user_agent: args.user_agent,
  outcome: args.outcome,
  status: args.status,
  timestamp: args.timestamp,
  api_group: args.api_group,
  action_type: args.action_type,
  resource_types: args.resource_types,
  resource_ids: args.resource_ids,
  resource_names: args.resource_names,
  event_type: args.event_type ?? null,
  subject: args.subject ?? null,
  origin: args.origin ?? null,
});

const insertActionRow = compiledQuery((db, args: NewUserAction) =>
  db.insertInto('user_actions').values(rowOf(args)).compile(),
);

/** The event belongs to the account and the project of the action. */
const insertToldAction = compiledQuery((db, args: NewUserAction & NewEvent) => {
  const { client_id, project_id, type, subject, revised, data } = args;
  const event = { client_id, project_id: project_id as number | null, type, subject, revised, data };
  return db
    .with('told', () => raw<{ position: number }>`(${writingEvent(event)})`)
    .insertInto('user_actions')
    .values({ ...rowOf(args), event_type: type })
    .compile();
});

export async function insertActions(db: Sql, actions: NewUserAction[]): Promise<void> {
  await db.insertInto('user_actions').values(actions).execute();
}

/** How many actions may wait to be written. It takes an unavailable database to get there. */
const MOST_WAITING = 10_000;
const BATCH = 1_000;

/** Records every request for a change: who, what, when, and the outcome. */
export interface ActionLog {
  /**
   * Records an accepted change in its own transaction, with the event that tells of it: all of it is stored or nothing.
   */
  record(tx: Transaction, action: NewUserAction, event: NewEvent | undefined): void;
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
    record(tx, action, event) {
      if (event) tx.send(insertToldAction, { ...action, ...event });
      else tx.send(insertActionRow, action);
    },
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
