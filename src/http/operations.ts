import type { FastifyContextConfig, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { type Static, type TSchema, Type } from 'typebox';
import type { Dialect } from './dialect.ts';
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
export type Operation<
  Params extends TSchema,
  Body extends TSchema,
  Query extends TSchema,
  Answer extends TSchema,
  Headers extends TSchema,
> = FastifyContextConfig &
  Pick<RouteShorthandOptions, 'onRequest' | 'preHandler'> & {
    tags?: string[];
    description?: string;
    deprecated?: boolean;
    params?: Params;
    headers?: Headers;
    body?: Body;
    query?: Query;
    /** 200 if nothing is said. */
    status?: 201 | 202 | 204;
  } & (
    | {
        /** Without an answer, the status is 204. */
        answer?: Answer;
        task?: never;
        handler(
          call: Call<Params, Body, Query, Headers>,
          reply: FastifyReply,
        ): Static<Answer> | FastifyReply | Promise<Static<Answer> | FastifyReply>;
      }
    | {
        /** Starts tasks, which the answer names in the dialect's way. What changes nothing starts none. */
        task(call: Call<Params, Body, Query, Headers>): Promise<string | undefined | string[]>;
        answer?: never;
        handler?: never;
      }
  );

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Registers operations, each by one call. What they have in common is said once: their tags in the OpenAPI document, the
 * parameters of their paths, and who may call them if that isn't any member of the account for reading, and an engineer
 * or administrator for the rest.
 */
export function operations<Common extends TSchema = TSchema>(
  app: Api,
  of: Pick<FastifyContextConfig, 'access'> &
    Pick<RouteShorthandOptions, 'onRequest'> & {
      tags: string[];
      params?: Common;
      deprecated?: boolean;
      /** Of operations that start tasks. */
      dialect?: Dialect;
    },
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
      const { description, headers, body, query, preHandler, ...rest } = naming(of.dialect, operation);
      const { tags = of.tags, params = of.params, deprecated = of.deprecated, ...others } = rest;
      const { onRequest = of.onRequest, answer, handler, status = answer ? 200 : 204, ...config } = others;
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

/** Lets an operation that starts tasks answer their names. */
function naming<
  Params extends TSchema,
  Body extends TSchema,
  Query extends TSchema,
  Answer extends TSchema,
  Headers extends TSchema,
>(dialect: Dialect | undefined, operation: Operation<Params, Body, Query, Answer, Headers>) {
  if (!operation.task) return operation;
  if (!dialect) throw new Error('Operations that start tasks need a dialect');
  const { task, ...rest } = operation;
  const handler = async (call: Call<Params, Body, Query, Headers>) => dialect.tasks([await task(call)].flat());
  return { ...rest, answer: dialect.tasksSchema, handler };
}

function answering<Request>(status: number, handler: (request: Request, reply: FastifyReply) => unknown) {
  return async (request: Request, reply: FastifyReply): Promise<unknown> => {
    reply.code(status);
    const answer = await handler(request, reply);
    return status === 204 ? null : answer;
  };
}
