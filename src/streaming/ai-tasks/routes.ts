import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import { listedAiTask, pagePointers, presentedAiTask } from './presenter.ts';
import * as schema from './schema.ts';
import {
  cancelAiTask,
  createAiTask,
  getAiTask,
  listAiTasks,
  subtitlesOfAiTask,
  supportsLanguages,
} from './service.ts';

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
    handler: async ({ principal, body }) => ({ task_id: await createAiTask(on, principal, body) }),
  });

  api.get(BASE, 'listAiTasks', 'List AI tasks', {
    query: schema.AiTaskListQuery,
    answer: schema.aiTaskListSchema,
    handler: async ({ principal, query }) => {
      const { page = 1, limit = 10 } = query;
      const { count, rows } = await listAiTasks(on, principal, { ...query, page, limit });
      return { count, ...pagePointers(query, count), results: rows.map(listedAiTask) };
    },
  });

  api.get(`${BASE}/:task_id`, 'getAiTask', 'Get an AI task with its result', {
    params: schema.AiTaskParams,
    answer: schema.aiTaskSchema,
    handler: async ({ principal, params }) => presentedAiTask(await getAiTask(on, principal, params.task_id)),
  });

  api.get(`${BASE}/:task_id/subtitles.vtt`, 'getAiTaskSubtitles', 'Get the subtitles of a transcription', {
    description:
      'The track in the form that players accept. 404 while there is none: the task has not succeeded, or is not a transcription.',
    params: schema.AiTaskParams,
    answer: schema.subtitlesResponse,
    handler: async ({ principal, params }, reply) =>
      reply.type('text/vtt; charset=utf-8').send(await subtitlesOfAiTask(on, principal, params.task_id)),
  });

  api.post(`${BASE}/:task_id/cancel`, 'cancelAiTask', 'Cancel an AI task', {
    refuses: [412],
    description: 'The task is REVOKED at once. A task that has ended is refused with 412.',
    params: schema.AiTaskParams,
    status: 202,
    answer: schema.cancelledAiTaskSchema,
    handler: async ({ principal, params }) => {
      await cancelAiTask(on, principal, params.task_id);
      return { result: `AI task ${params.task_id} is cancelled` };
    },
  });

  api.get('/streaming/ai/info', 'getAiInfo', 'Ask which languages are supported', {
    refuses: [422],
    description:
      'Answers from the engines that are installed. Needs the feature that transcriptions need (422).',
    query: schema.AiInfoQuery,
    answer: schema.languageSupportSchema,
    handler: async ({ principal, query: { audio_language, subtitles_language } }) => ({
      supported: await supportsLanguages(on, principal, audio_language, subtitles_language),
    }),
  });
}
