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
  app.post(BASE, {
    config: { access: 'operate', refuses: [422] },
    schema: {
      operationId: 'createAiTask',
      summary: 'Create an AI task',
      description:
        'Transcribes or moderates a media file. The task waits in PENDING until an engine is free, and only then is the file fetched. An account can have at most 100 unfinished tasks. A kind of task for which the account lacks the feature is refused with 422; its reseller can activate it: `POST /iam/admin/paid_features`, or `free_features`.',
      tags,
      body: schema.createAiTaskSchema,
      response: { 201: schema.createdAiTaskSchema },
    },
    handler: async ({ principal, body }, reply) =>
      reply.code(201).send({ task_id: await createAiTask(on, principal, body) }),
  });

  app.get(BASE, {
    config: { access: 'read' },
    schema: {
      operationId: 'listAiTasks',
      summary: 'List AI tasks',
      tags,
      querystring: schema.AiTaskListQuery,
      response: { 200: schema.aiTaskListSchema },
    },
    handler: async ({ principal, query }) => {
      const { page = 1, limit = 10 } = query;
      const { count, rows } = await listAiTasks(on, principal, { ...query, page, limit });
      return { count, ...pagePointers(query, count), results: rows.map(listedAiTask) };
    },
  });

  app.get(`${BASE}/:task_id`, {
    config: { access: 'read' },
    schema: {
      operationId: 'getAiTask',
      summary: 'Get an AI task with its result',
      tags,
      params: schema.AiTaskParams,
      response: { 200: schema.aiTaskSchema },
    },
    handler: async ({ principal, params }) => presentedAiTask(await getAiTask(on, principal, params.task_id)),
  });

  app.get(`${BASE}/:task_id/subtitles.vtt`, {
    config: { access: 'read' },
    schema: {
      operationId: 'getAiTaskSubtitles',
      summary: 'Get the subtitles of a transcription',
      description:
        'The track in the form that players accept. 404 while there is none: the task has not succeeded, or is not a transcription.',
      tags,
      params: schema.AiTaskParams,
      response: { 200: schema.subtitlesResponse },
    },
    handler: async ({ principal, params }, reply) =>
      reply.type('text/vtt; charset=utf-8').send(await subtitlesOfAiTask(on, principal, params.task_id)),
  });

  app.post(`${BASE}/:task_id/cancel`, {
    config: { access: 'operate', refuses: [412] },
    schema: {
      operationId: 'cancelAiTask',
      summary: 'Cancel an AI task',
      description: 'The task is REVOKED at once. A task that has ended is refused with 412.',
      tags,
      params: schema.AiTaskParams,
      response: { 202: schema.cancelledAiTaskSchema },
    },
    handler: async ({ principal, params }, reply) => {
      await cancelAiTask(on, principal, params.task_id);
      return reply.code(202).send({ result: `AI task ${params.task_id} is cancelled` });
    },
  });

  app.get('/streaming/ai/info', {
    config: { access: 'read', refuses: [422] },
    schema: {
      operationId: 'getAiInfo',
      summary: 'Ask which languages are supported',
      description:
        'Answers from the engines that are installed. Needs the feature that transcriptions need (422).',
      tags,
      querystring: schema.AiInfoQuery,
      response: { 200: schema.languageSupportSchema },
    },
    handler: async ({ principal, query: { audio_language, subtitles_language } }) => ({
      supported: await supportsLanguages(on, principal, audio_language, subtitles_language),
    }),
  });
}
