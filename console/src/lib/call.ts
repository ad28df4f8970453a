import { createFinalURL, createQuerySerializer, defaultPathSerializer, type MaybeOptionalInit } from 'openapi-fetch';
import type { HttpMethod, PathsWithMethod } from 'openapi-typescript-helpers';
import type { paths } from '../../types/api.d.ts';

/** A request as data: the button sends it, the review asks what it would do, and the code beside it says the same. */
export interface Call {
  method: string;
  /** With the query. */
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
}

const querySerializer = createQuerySerializer();

/** A request of an operation, typed by the API's document. */
export function callOf<Method extends HttpMethod, Path extends PathsWithMethod<paths, Method>>(
  method: Method,
  path: Path,
  init: MaybeOptionalInit<paths[Path], Method>,
): Call {
  const {
    params = {},
    body,
    headers,
  } = (init ?? {}) as {
    params?: { path?: Record<string, unknown>; query?: Record<string, unknown> };
    body?: unknown;
    headers?: Record<string, string>;
  };
  return {
    method: method.toUpperCase(),
    path: createFinalURL(path as string, {
      baseUrl: '',
      params,
      querySerializer,
      pathSerializer: defaultPathSerializer,
    }),
    ...(headers && { headers }),
    ...(body !== undefined && { body }),
  };
}

/** A name for one wish to change something: sent again, the server carries it out once. Such names need no secure context. */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
