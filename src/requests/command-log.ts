import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Transaction } from '../db/database.ts';
import type { ChangeRecord } from '../lib/request-context.ts';
import type { Clock } from '../lib/time.ts';
import type { ActionLog } from './action-log.ts';
import { UNPUBLISHED } from './action-of.ts';
import type { NewUserAction } from './action-store.ts';
import { eventOfCommand, typeOf } from './event-types.ts';
import { eventData } from './events.ts';

/** A command of the operator that changes something. */
export interface OperatorCommand {
  name: string;
  /** Who runs it, and where. */
  by: string;
}

/** Returns what records the command and tells of it like of a request. */
export function recordOf(
  command: OperatorCommand,
  deps: { actionLog: Pick<ActionLog, 'record'>; clock: Clock },
): ChangeRecord {
  let clientId: number | undefined;
  let subject: string | undefined;
  return {
    before: async () => {},
    async after(tx: Transaction) {
      const client = clientId ?? (await platformsClient(tx));
      const request_id = randomUUID();
      const { word, verb, table } = eventOfCommand(command.name);
      const type = typeOf(word, verb);
      await deps.actionLog.record(tx, actionOf(command, client, request_id, deps.clock.now()), {
        type,
        subject: subject === undefined ? word : `${word}/${subject}`,
        revised: `${table}:${subject}`,
        data: JSON.stringify(
          eventData({
            client_id: client,
            resources: subject === undefined ? [] : [{ type: word, id: subject, name: null }],
            request_id,
            operation: command.name,
          }),
        ),
      });
    },
    committed: () => {},
    concerns(id) {
      clientId = id;
    },
    about: () => {},
    made(id) {
      subject = String(id);
    },
    started: () => {},
  };
}

/** What concerns no other account concerns the platform's own. */
async function platformsClient(tx: Transaction): Promise<number> {
  const { rows } = await sql<{ client_id: number }>`
    select client_id from users where platform_administrator and deleted_at is null order by id limit 1`.execute(
    tx.sql,
  );
  return rows[0]?.client_id ?? 0;
}

function actionOf(
  { name, by }: OperatorCommand,
  client_id: number,
  request_id: string,
  timestamp: Date,
): NewUserAction {
  return {
    client_id,
    user_id: 0,
    token_id: null,
    request_id,
    operation: name,
    method: '',
    path: '',
    project_id: null,
    region_id: null,
    task_id: null,
    source_user_ip: '',
    user_agent: by,
    outcome: 'accepted',
    status: 0,
    timestamp,
    ...UNPUBLISHED,
    origin: 'command',
  };
}
