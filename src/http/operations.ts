import type { FastifyContextConfig, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { type Static, type TSchema, Type } from 'typebox';
import type { Api } from './server.ts';

/** A request whose parts have been validated. */
export type Call<
  Params extends TSchema,
  Body extends TSchema,
  Query extends TSchema,
  Headers extends TSchema = TSchema,
> = FastifyRequest<{
  Params: Static<Params>;
  Body: Static<Body>;
  Querystring: Static<Query>;
  Headers: Static<Headers>;
}>;

/** Who may call an operation and its other traits, what it takes and answers, and the work that it does. */
export interface Operation<
  Params extends TSchema,
  Body extends TSchema,
  Query extends TSchema,
  Answer extends TSchema,
  Headers extends TSchema,
> extends FastifyContextConfig,
    Pick<RouteShorthandOptions, 'onRequest' | 'preHandler'> {
  tags?: string[];
  description?: string;
  deprecated?: boolean;
  params?: Params;
  headers?: Headers;
  body?: Body;
  query?: Query;
  /** Without an answer, the status is 204. */
  answer?: Answer;
  /** 200 if nothing is said. */
  status?: 201 | 202 | 204;
  handler(
    call: Call<Params, Body, Query, Headers>,
    reply: FastifyReply,
  ): Static<Answer> | FastifyReply | Promise<Static<Answer> | FastifyReply>;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Registers operations, each by one call. What they have in common is said once: their tags in the OpenAPI document, the
 * parameters of their paths, and who may call them if that isn't any member of the account for reading, and an engineer
 * or administrator for the rest.
 */
export function operations<Common extends TSchema = TSchema>(
  app: Api,
  of: { tags: string[]; params?: Common; deprecated?: boolean } & Pick<FastifyContextConfig, 'access'> &
    Pick<RouteShorthandOptions, 'onRequest'>,
) {
  const register =
    (method: Method) =>
    <
      Params extends TSchema = Common,
      Body extends TSchema = TSchema,
      Query extends TSchema = TSchema,
      Answer extends TSchema = TSchema,
      Headers extends TSchema = TSchema,
    >(
      url: string,
      operationId: string,
      summary: string,
      operation: Operation<Params, Body, Query, Answer, Headers>,
    ): void => {
      const { description, headers, body, query, answer, preHandler, ...rest } = operation;
      const { tags = of.tags, params = of.params, deprecated = of.deprecated, ...others } = rest;
      const { onRequest = of.onRequest, handler, status = answer ? 200 : 204, ...config } = others;
      const access = config.access ?? of.access ?? (method === 'GET' ? 'read' : 'operate');
      app.route({
        method,
        url,
        config: { ...config, access },
        ...(onRequest && { onRequest }),
        ...(preHandler && { preHandler }),
        schema: {
          operationId,
          summary,
          ...(description !== undefined && { description }),
          ...(deprecated && { deprecated }),
          tags,
          ...(access === 'public' && { security: [] }),
          ...(params && url.includes(':') && { params }),
          ...(headers && { headers }),
          ...(query && { querystring: query }),
          ...(body && { body }),
          response: { [status]: answer ?? Type.Null() },
        },
        handler: (status === 200 ? handler : answering(status, handler)) as never,
      });
    };
  return {
    get: register('GET'),
    post: register('POST'),
    put: register('PUT'),
    patch: register('PATCH'),
    delete: register('DELETE'),
  };
}

/** Sets the status of what a handler answers. */
function answering<Request>(status: number, handler: (request: Request, reply: FastifyReply) => unknown) {
  return async (request: Request, reply: FastifyReply): Promise<unknown> => {
    reply.code(status);
    const answer = await handler(request, reply);
    return status === 204 ? null : answer;
  };
}
