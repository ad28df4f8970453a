import { HttpError, NO_SUCH_PART } from '../../../http/errors.ts';
import { goneSignal } from '../../../http/gone-signal.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { streamed } from '../../../http/streamed.ts';
import type { Platform } from '../../../platform.ts';
import * as schema from '../schema.ts';
import { listAiTaskKinds } from '../service.ts';
import { openAiTaskMedia } from './service.ts';

const BASE = '/tradewind/v1/ai-tasks';

/** Operations of our own, which the published interface does not have. */
export function aiTaskMediaRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['AI tasks'] });

  api.get(`${BASE}/kinds`, 'listAiTaskKinds', 'List the kinds of AI tasks', {
    description: 'With what has to be installed for those that no running engine can do.',
    answer: schema.aiTaskKindsSchema,
    handler: () => listAiTaskKinds(on),
  });

  api.get(`${BASE}/:task_id/media`, 'getAiTaskMedia', 'Get the media file of an AI task', {
    refuses: [416, 422],
    description:
      'Fetches the file again from where the task has it, by the same rules, and passes it on; nothing is kept. 422 says why it can’t be had. `Range` asks for one part, which comes with 206 if that server sends parts. An account can read 4 files at a time from each process.',
    params: schema.AiTaskParams,
    headers: schema.MediaHeaders,
    answer: schema.mediaResponse,
    handler: async ({ principal, params: { task_id: taskId }, headers: { range }, method }, reply) => {
      const gone = new AbortController();
      const signal = AbortSignal.any([goneSignal(reply), gone.signal]);
      const { status, headers, bytes } = await openAiTaskMedia(on, principal, { taskId, range, gone: signal });
      const { 'content-range': part, 'content-length': length, 'accept-ranges': unit } = headers;
      if (status !== 200 && part !== undefined) void reply.header('content-range', part);
      if (status === 416) {
        gone.abort();
        throw new HttpError(416, NO_SUCH_PART);
      }
      const type = typeOf(headers['content-type']);
      void reply.code(status).headers({
        'accept-ranges': status === 206 || unit === 'bytes' ? 'bytes' : 'none',
        'cache-control': 'private, no-store',
        'content-disposition': 'inline',
        ...(length !== undefined && { 'content-length': length }),
      });
      if (method !== 'HEAD') return streamed(reply, type, bytes);
      gone.abort();
      return reply.type(type).send();
    },
  });
}

/** Other types could be run as pages. */
const typeOf = (given = ''): string =>
  /^(audio|video)\/[\w.+-]+(;[\w\s.,="'+-]*)?$/i.test(given) ? given : 'application/octet-stream';
