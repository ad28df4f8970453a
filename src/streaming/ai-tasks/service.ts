import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import * as engines from '../../../engines/index.ts';
import { announce, announceAll } from '../../db/changes.ts';
import type { Sql, Transaction } from '../../db/database.ts';
import type { TaskData } from '../../db/json-columns.ts';
import { requireFeature } from '../../iam/features/service.ts';
import * as errors from '../../lib/errors.ts';
import { fileUrlProblem } from '../../lib/file-url.ts';
import { isUuid } from '../../lib/ids.ts';
import { isoInterval } from '../../lib/iso-interval.ts';
import { noteAccount } from '../../lib/request-context.ts';
import type { Platform } from '../../platform.ts';
import { ownsClient, type Principal } from '../../requests/principal.ts';
import { folded, type ListedTask, readPage } from './page.ts';
import { type AiTaskListQuery, type CreateAiTask, EXAMPLE_URL } from './schema.ts';
import { parseStopObjects } from './stop-objects.ts';
import * as store from './store.ts';
import { AI_TASKS, readCapabilities } from './store.ts';

const DETECTOR = 'a detector of body parts in the folder of TRADEWIND_MODEL_DIR';
const PACKAGES = 'ffmpeg and the packages of the engines (npx tradewind engines install)';
const WANTED: Record<engines.WorkKind, string> = {
  transcription: `pocketsphinx or another model of speech, ${PACKAGES}`,
  nsfw: PACKAGES,
  hard_nudity: DETECTOR,
  soft_nudity: DETECTOR,
  sport: PACKAGES,
};

/** Returns why a task can't be done if no engine here can do its kind; it starts once one can. */
export async function missingEngine(db: Sql, { task_name, category }: TaskData): Promise<string | undefined> {
  const kind = category ?? 'transcription';
  if (await canBeDone(db, kind)) return undefined;
  return `${category === undefined ? task_name : `${task_name}, ${category}`}: no engine for it is running now. The task waits for one; "npx tradewind doctor" tells the operator of this service more.`;
}

/** @throws UnprocessableError for what no engine can do and what must not wait for one */
export async function refuseUnavailable(db: Sql, { category }: TaskData): Promise<void> {
  if (category === undefined || engines.ALWAYS_ACCEPTED.includes(category)) return;
  if (await canBeDone(db, category)) return;
  throw new errors.UnprocessableError(
    `category: No engine installed here can do ${category}. It needs ${WANTED[category]}; "npx tradewind doctor" shows what is installed.`,
  );
}

/** Returns the kinds of tasks, and for each that no engine can do now what that takes. */
export async function listAiTaskKinds({ database }: Platform) {
  const possible = (await readCapabilities(database.sql)).flatMap(engines.workKinds);
  const kinds = Object.entries(WANTED) as [engines.WorkKind, string][];
  return kinds.map(([kind, wanted]) => ({
    ...(kind === 'transcription'
      ? { task_name: kind, languages: [...engines.LANGUAGES] }
      : { task_name: 'content-moderation' as const, category: kind }),
    needs: possible.includes(kind) ? null : wanted,
  }));
}

async function canBeDone(db: Sql, kind: engines.WorkKind): Promise<boolean> {
  const workers = await readCapabilities(db);
  return workers.some((capabilities) => engines.workKinds(capabilities).includes(kind));
}

/**
 * Returns the data of a new task from a body that has passed the schema.
 * @throws InvalidError by field: url, languages, stop_objects
 */
export function taskDataOf(clientId: number, body: CreateAiTask): TaskData {
  const problems = [
    ...problemOf('url', fileUrlProblem(body.url, EXAMPLE_URL)),
    ...problemOf('audio_language', languageProblem(body.audio_language)),
    ...problemOf('subtitles_language', languageProblem(body.subtitles_language)),
    ...problemOf('stop_objects', stopObjectsProblem(body)),
  ];
  if (problems.length > 0) throw new errors.InvalidError(problems);
  const { task_name, url, category } = body;
  return {
    task_name,
    client_id: clientId,
    url,
    ...(category !== undefined && { category }),
    ...given('audio_language', body.audio_language),
    ...given('subtitles_language', body.subtitles_language),
    ...given('stop_objects', body.stop_objects),
    ...given('client_user_id', body.client_user_id),
    ...given('client_entity_data', body.client_entity_data),
  };
}

function problemOf(field: string, message: string | undefined): errors.FieldProblem[] {
  return message === undefined ? [] : [{ field, message }];
}

function languageProblem(code: string | null | undefined): string | undefined {
  return typeof code === 'string' && engines.languageOf(code) === undefined ? engines.unknownLanguage(code) : undefined;
}

function stopObjectsProblem({ category, stop_objects }: CreateAiTask): string | undefined {
  if (typeof stop_objects !== 'string') return undefined;
  const labels = category === 'soft_nudity' ? engines.SOFT_NUDITY_LABELS : engines.HARD_NUDITY_LABELS;
  const parsed = parseStopObjects(stop_objects, labels);
  return 'problem' in parsed ? parsed.problem : undefined;
}

function given<K extends keyof TaskData>(field: K, value: string | null | undefined) {
  return typeof value === 'string' ? { [field]: value } : {};
}

/** Unfinished tasks that one client may have. */
export const QUEUE_LIMIT = 100;

export type AiTaskListRequest = AiTaskListQuery & { page: number; limit: number };

export type AiTaskRead = store.AiTaskRow & {
  /** What the task can't begin without, for people; undefined if it only waits for its turn, or not at all. */
  waitingFor: string | undefined;
};

/**
 * Accepts a task, which stays PENDING until an engine takes it.
 * @throws InvalidError by field, FeatureMissingError, UnprocessableError for what the engines can't do, QueueFullError
 */
export async function createAiTask(on: Platform, principal: Principal, body: CreateAiTask): Promise<string> {
  const data = taskDataOf(principal.clientId, body);
  const id = randomUUID();
  await on.database.accept(async (tx) => {
    await store.lockAccount(tx, principal.clientId);
    await requireFeature(on, tx.sql, principal.clientId, data.task_name);
    await refuseUnavailable(tx.sql, data);
    const unfinished = await store.countUnfinished(tx, principal.clientId, QUEUE_LIMIT);
    if (unfinished >= QUEUE_LIMIT) throw queueFull();
    await store.insertTask(tx, { id, data, now: on.clock.now() });
    tx.made(id);
    await store.forgetOldChanges(tx);
    tx.announce(store.AI_TASKS);
  });
  return id;
}

/** Lists the caller's own tasks. @throws InvalidError for an invalid time */
export async function listAiTasks(
  on: Platform,
  principal: Principal,
  request: AiTaskListRequest,
): Promise<{ count: number; rows: ListedTask[] }> {
  const { task_id: taskId, date_created: date, search = '', page, limit } = request;
  const created = date === undefined ? undefined : isoInterval(date);
  if (date !== undefined && !created) throw notATime();
  if (taskId !== undefined && !isUuid(taskId)) return { count: 0, rows: [] };
  return readPage(on.database.sql, on.aiTaskCounts, {
    filter: {
      clientId: principal.clientId,
      taskId: taskId?.toLowerCase(),
      taskName: request.task_name,
      status: request.status,
      created,
      search: search === '' ? undefined : folded(search),
    },
    ordering: request.ordering,
    limit,
    offset: (page - 1) * limit,
  });
}

/** @throws NotFoundError for an unknown task or another account's */
export async function getAiTask(on: Platform, principal: Principal, id: string): Promise<AiTaskRead> {
  const task = await owned(on.database.sql, principal, id);
  const waitingFor = task.status === 'PENDING' ? await missingEngine(on.database.sql, task.task_data) : undefined;
  return { ...task, waitingFor };
}

/** @throws NotFoundError, PreconditionFailedError if the task has ended */
export async function cancelAiTask(on: Platform, principal: Principal, id: string): Promise<void> {
  await on.database.accept(async (tx) => {
    const { id: taskId } = await owned(tx.sql, principal, id);
    if (await store.takeStep(tx.sql, taskId, { to: 'REVOKED' }, on.clock.now())) {
      await announce(tx.client, store.AI_TASKS, taskId);
      return;
    }
    const { status } = await owned(tx.sql, principal, id);
    throw new errors.PreconditionFailedError(
      `AI task ${taskId} has ended with ${status} and can't be cancelled any more`,
    );
  });
}

/** @throws InvalidError for an unknown language, FeatureMissingError */
export async function supportsLanguages(
  on: Platform,
  principal: Principal,
  audioLanguage: string,
  subtitlesLanguage: string | undefined,
): Promise<boolean> {
  const audio = languageIn('audio_language', audioLanguage);
  const subtitles = subtitlesLanguage === undefined ? audio : languageIn('subtitles_language', subtitlesLanguage);
  await requireFeature(on, on.database.sql, principal.clientId, 'transcription');
  const workers = await store.readCapabilities(on.database.sql);
  return workers.some((capabilities) => engines.transcribes(capabilities, audio, subtitles));
}

/** Returns the subtitles of a transcription as WebVTT. @throws NotFoundError while there are none */
export async function subtitlesOfAiTask(on: Platform, principal: Principal, id: string): Promise<string> {
  const { result } = await owned(on.database.sql, principal, id);
  const text = result && 'vttContent' in result ? result.vttContent : undefined;
  if (typeof text === 'string') return text;
  throw new errors.NotFoundError('Subtitles of AI task', id);
}

async function owned(db: Sql, principal: Principal, id: string): Promise<store.AiTaskRow> {
  const row = isUuid(id) ? await store.findTask(db, id) : undefined;
  if (!row || !ownsClient(principal, row.client_id)) throw new errors.NotFoundError('AI task', id);
  noteAccount(row.client_id);
  return row;
}

function queueFull(): errors.QueueFullError {
  return new errors.QueueFullError(
    `Queue limit reached (${QUEUE_LIMIT} unfinished AI tasks), try again later: wait until one of them ends, or cancel one`,
  );
}

function notATime(): errors.InvalidError {
  return new errors.InvalidError([
    {
      field: 'date_created',
      message:
        'Must be an ISO 8601 date or time that exists, e.g. 2026-11-21, 2026-11-21T10:15Z or 2026-11-21T10:15:30.5+02:00.',
    },
  ]);
}

function languageIn(field: string, code: string): string {
  const language = engines.languageOf(code);
  if (language === undefined) throw new errors.InvalidError([{ field, message: engines.unknownLanguage(code) }]);
  return language;
}

/** Deletes some of an account's tasks. Whoever works on one of them stops. Returns how many there were. */
export async function deleteTasksOf(tx: Transaction, clientId: number, limit: number): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    delete from ai_tasks where id = any(array(
      select id from ai_tasks where client_id = ${clientId} order by created_at limit ${limit}))
    returning id`.execute(tx.sql);
  await announceAll(
    tx.client,
    AI_TASKS,
    rows.map(({ id }) => id),
  );
  return rows.length;
}
