import { randomUUID } from 'node:crypto';
import os from 'node:os';
import { sql } from 'kysely';
import { type Database, openDatabase, type Transaction } from '../db/database.ts';
import { createDatabaseClock, type DatabaseClock, requireSameTime } from '../db/database-clock.ts';
import { refusalNamed } from '../db/migrate.ts';
import { DomainError } from '../lib/errors.ts';
import { version } from '../lib/own-program.ts';
import { type ChangeRecord, recordedBy } from '../lib/request-context.ts';
import type { Clock } from '../lib/time.ts';
import { createLog } from '../log.ts';
import { type ActionLog, createActionLog, type NewUserAction } from '../requests/action-log.ts';
import { UNPUBLISHED } from '../requests/action-of.ts';
import { eventOfCommand, typeOf } from '../requests/event-types.ts';
import { eventData } from '../requests/events.ts';
import { type CommandContext, EXIT_REFUSED, type Options } from './command.ts';
import { requireSchema } from './schema.ts';
import { openStorage } from './storage.ts';

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
      deps.actionLog.record(tx, actionOf(command, client, request_id, deps.clock.now()), {
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

/** What a command has done or found: for a person, and for --json. */
export interface Answer {
  text: string;
  data: unknown;
}

type Context = Pick<CommandContext, 'config' | 'options'>;

/**
 * Runs an operator's work on the database, whether Tradewind is running or not, and prints its answer. Returns the exit
 * code; domain errors are printed on standard error.
 */
export const asOperator = (context: Context, work: (database: Database) => Promise<Answer>): Promise<number> =>
  withDatabase(context, work);

/** Records a command in the transaction that makes its change, or the first of its changes. */
export type RecordCommand = (tx: Transaction) => Promise<void>;

/**
 * The same for work that changes something. Either it calls `database.accept`, or one of its transactions
 * calls `record`: a command that is killed then leaves no change without its record.
 */
export const asRecordedOperator = (
  context: Context,
  command: string,
  work: (database: Database, by: { record: RecordCommand; clock: Clock }) => Promise<Answer>,
): Promise<number> =>
  withDatabase(context, async (database, clock) => {
    await requireSameTime(database.pool, clock);
    const record = recordOf(
      { name: command, by: `tradewind ${version} (${userName()}@${os.hostname()})` },
      { actionLog: createActionLog({ database }), clock },
    );
    return recordedBy(record, () => work(database, { record: (tx) => record.after(tx), clock }));
  });

/** The operating system need not know the user, as in containers. */
function userName(): string {
  try {
    return os.userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

/** Prints what a command answers, as JSON if that was asked for. */
export function printAnswer({ text, data }: Answer, { json }: Options): void {
  process.stdout.write(`${json ? JSON.stringify(data, null, 2) : text}\n`);
}

async function withDatabase(
  { config, options }: Context,
  work: (database: Database, clock: DatabaseClock) => Promise<Answer>,
): Promise<number> {
  const storage = await openStorage(config, createLog(config), { share: true, mustExist: true });
  const clock = createDatabaseClock();
  const database = openDatabase(storage.connection, 2, { clock });
  try {
    await requireSchema(database);
    printAnswer(await work(database, clock), options);
    return 0;
  } catch (error) {
    if (!(error instanceof DomainError)) throw (await refusalNamed(database.pool, error)) ?? error;
    process.stderr.write(`${error.message}\n`);
    return EXIT_REFUSED;
  } finally {
    await database.close();
    await storage.stop();
  }
}
