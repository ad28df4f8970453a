import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import findMyWay from 'find-my-way';
import { NotFoundError } from '../lib/errors.ts';
import { HttpError, sendError } from './errors.ts';

/** Of one path parameter. */
export const MAX_PARAM_LENGTH = 500;

/** Answers what no route takes: 405 with `Allow` on a path that other methods know, else 404. */
export function answerUnknownPaths(app: FastifyInstance): void {
  const paths = findMyWay<findMyWay.HTTPVersion.V1>({ maxParamLength: MAX_PARAM_LENGTH });
  const methods = new Map<string, Set<string>>();

  app.addHook('onRoute', ({ url, method }) => {
    const known = methods.get(url);
    if (known) {
      for (const name of [method].flat()) known.add(name);
      return;
    }
    methods.set(url, new Set([method].flat()));
    paths.on('GET', url, () => {}, url);
  });

  app.setNotFoundHandler((request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const route = paths.find('GET', path);
    if (!route) return sendError(new NotFoundError('Path', path), request, reply);
    void reply.header('allow', [...(methods.get(route.store as string) ?? [])].sort().join(', '));
    sendError(new HttpError(405, 'HTTP 405: Method Not Allowed'), request, reply);
  });
}
