import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { isoMicros } from '../../lib/time.ts';
import type { Platform } from '../../platform.ts';
import { aiTaskMediaRoutes } from './media/routes.ts';
import type { ListedTask } from './page.ts';
import type { AiTaskListQuery } from './schema.ts';
import * as schema from './schema.ts';
import * as aiTasks from './service.ts';

/** Returns a task as lists show it, without its result. */
export function listedAiTask(row: ListedTask) {
  const { started_at, completed_at } = row;
  return {
    task_id: row.id,
    status: row.status,
    progress: row.progress,
    processing_time: {
      ...(started_at && { started_at: isoMicros(started_at) }),
      completed_at: completed_at && isoMicros(completed_at),
      total_time_sec: started_at && completed_at && (completed_at.getTime() - started_at.getTime()) / 1000,
    },
    task_data: row.task_data,
  };
}

export function presentedAiTask(task: aiTasks.AiTaskRead) {
  const { result, frame_rate, waitingFor } = task;
  return {
    result,
    ...listedAiTask(task),
    ...(frame_rate !== null && { frame_rate }),
    ...(waitingFor !== undefined && { waiting_for: waitingFor }),
  };
}

/** Returns the pointers of a page: queries such as `page=2`, which keep what else the request asked for, or null. */
export function pagePointers(query: AiTaskListQuery, count: number) {
  const { page = 1, limit = 10, ...filters } = query;
  const last = Math.ceil(count / limit);
  const at = (number: number) =>
    new URLSearchParams(
      Object.entries({ page: number, limit: query.limit, ...filters }).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, String(value)] as [string, string]],
      ),
    ).toString();
  return {
    next: page < last ? at(page + 1) : null,
    previous: page > 1 && last > 0 ? at(Math.min(page - 1, last)) : null,
  };
}

const BASE = '/streaming/ai/tasks';
const tags = ['AI tasks'];

export function aiTaskRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags });

  api.post(BASE, 'createAiTask', 'Create an AI task', {
    refuses: [422],
    description:
      'Transcribes or moderates a media file. The task waits in PENDING until an engine is free, and only then is the file fetched. An account can have at most 100 unfinished tasks. A kind of task for which the account lacks the feature is refused with 422; its reseller can activate it: `POST /iam/admin/paid_features`, or `free_features`.',
    body: schema.createAiTaskSchema,
    status: 201,
    answer: schema.createdAiTaskSchema,
    handler: async ({ principal, body }) => ({ task_id: await aiTasks.createAiTask(on, principal, body) }),
  });

  api.get(BASE, 'listAiTasks', 'List AI tasks', {
    query: schema.AiTaskListQuery,
    answer: schema.aiTaskListSchema,
    handler: async ({ principal, query }) => {
      const { page = 1, limit = 10 } = query;
      const { count, rows } = await aiTasks.listAiTasks(on, principal, { ...query, page, limit });
      return { count, ...pagePointers(query, count), results: rows.map(listedAiTask) };
    },
  });

  api.get(`${BASE}/:task_id`, 'getAiTask', 'Get an AI task with its result', {
    params: schema.AiTaskParams,
    answer: schema.aiTaskSchema,
    handler: async ({ principal, params }) => presentedAiTask(await aiTasks.getAiTask(on, principal, params.task_id)),
  });

  api.get(`${BASE}/:task_id/subtitles.vtt`, 'getAiTaskSubtitles', 'Get the subtitles of a transcription', {
    description:
      'The track in the form that players accept. 404 while there is none: the task has not succeeded, or is not a transcription.',
    params: schema.AiTaskParams,
    answer: schema.subtitlesResponse,
    handler: async ({ principal, params }, reply) =>
      reply.type('text/vtt; charset=utf-8').send(await aiTasks.subtitlesOfAiTask(on, principal, params.task_id)),
  });

  api.post(`${BASE}/:task_id/cancel`, 'cancelAiTask', 'Cancel an AI task', {
    refuses: [412],
    description: 'The task is REVOKED at once. A task that has ended is refused with 412.',
    params: schema.AiTaskParams,
    status: 202,
    answer: schema.cancelledAiTaskSchema,
    handler: async ({ principal, params }) => {
      await aiTasks.cancelAiTask(on, principal, params.task_id);
      return { result: `AI task ${params.task_id} is cancelled` };
    },
  });

  aiTaskMediaRoutes(app, on);

  api.get('/streaming/ai/info', 'getAiInfo', 'Ask which languages are supported', {
    refuses: [422],
    description: 'Answers from the engines that are installed. Needs the feature that transcriptions need (422).',
    query: schema.AiInfoQuery,
    answer: schema.languageSupportSchema,
    handler: async ({ principal, query: { audio_language, subtitles_language } }) => ({
      supported: await aiTasks.supportsLanguages(on, principal, audio_language, subtitles_language),
    }),
  });
}
