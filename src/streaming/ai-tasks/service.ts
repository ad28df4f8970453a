import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import { announce } from '../../db/changes.ts';
import type { Tables } from '../../db/tables.ts';
import { transcribes } from '../../engines/capabilities.ts';
import { languageOf, unknownLanguage } from '../../engines/languages.ts';
import { requireFeature } from '../../iam/features/service.ts';
import { InvalidError, NotFoundError, PreconditionFailedError, QueueFullError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { isoInterval } from '../../lib/iso-interval.ts';
import { noteAccount } from '../../lib/request-context.ts';
import type { Platform } from '../../platform.ts';
import { ownsClient, type Principal } from '../../requests/principal.ts';
import { missingEngine, refuseUnavailable } from './availability.ts';
import { taskDataOf } from './creation.ts';
import { type ListedTask, readPage } from './page.ts';
import type { AiTaskListQuery, CreateAiTask } from './schema.ts';
import { folded } from './search-text.ts';
import * as store from './store.ts';

/** Unfinished tasks that one client may have. */
export const QUEUE_LIMIT = 100;

export type AiTaskListRequest = AiTaskListQuery & { page: number; limit: number };

export type AiTaskRead = store.AiTaskRow & {
  /**
   * What the task can't begin without, for people; undefined if it only waits for its turn, or not at all.
   */
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
    await announce(tx.client, store.AI_TASKS, '');
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
  const waitingFor =
    task.status === 'PENDING' ? await missingEngine(on.database.sql, task.task_data) : undefined;
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
    throw new PreconditionFailedError(
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
  const subtitles =
    subtitlesLanguage === undefined ? audio : languageIn('subtitles_language', subtitlesLanguage);
  await requireFeature(on, on.database.sql, principal.clientId, 'transcription');
  const workers = await store.readCapabilities(on.database.sql);
  return workers.some((capabilities) => transcribes(capabilities, audio, subtitles));
}

/** Returns the subtitles of a transcription as WebVTT. @throws NotFoundError while there are none */
export async function subtitlesOfAiTask(on: Platform, principal: Principal, id: string): Promise<string> {
  const { result } = await owned(on.database.sql, principal, id);
  const text = result && 'vttContent' in result ? result.vttContent : undefined;
  if (typeof text === 'string') return text;
  throw new NotFoundError('Subtitles of AI task', id);
}

async function owned(db: Kysely<Tables>, principal: Principal, id: string): Promise<store.AiTaskRow> {
  const row = isUuid(id) ? await store.findTask(db, id) : undefined;
  if (!row || !ownsClient(principal, row.client_id)) throw new NotFoundError('AI task', id);
  noteAccount(row.client_id);
  return row;
}

function queueFull(): QueueFullError {
  return new QueueFullError(
    `Queue limit reached (${QUEUE_LIMIT} unfinished AI tasks), try again later: wait until one of them ends, or cancel one`,
  );
}

function notATime(): InvalidError {
  return new InvalidError([
    {
      field: 'date_created',
      message:
        'Must be an ISO 8601 date or time that exists, e.g. 2026-11-21, 2026-11-21T10:15Z or 2026-11-21T10:15:30.5+02:00.',
    },
  ]);
}

function languageIn(field: string, code: string): string {
  const language = languageOf(code);
  if (language === undefined) throw new InvalidError([{ field, message: unknownLanguage(code) }]);
  return language;
}
