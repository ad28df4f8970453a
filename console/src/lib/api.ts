import { QueryClient } from '@tanstack/react-query';
import createFetchClient from 'openapi-fetch';
import createClient from 'openapi-react-query';
import type { paths } from '../../types/api.d.ts';
import { type ApiResponse, bodyText, identityOf } from '../worker/messages.ts';
import type { Call } from './call.ts';
import { isObject } from './changes.ts';
import * as hub from './hub.ts';

/** What the API refused, in its own words. The areas say it in different forms. */
export class ApiError extends Error {
  readonly status: number;
  /** What is wrong with single fields, by their names. */
  readonly fields: Record<string, string[]>;
  readonly requestId: string | undefined;
  readonly body: unknown;

  constructor(status: number, body: unknown, requestId: string | undefined) {
    super(messageOf(body) ?? `The server answered ${status}.`);
    this.status = status;
    this.fields = fieldsOf(body);
    this.requestId = requestId;
    this.body = body;
  }
}

function messageOf(body: unknown): string | undefined {
  if (!isObject(body)) return undefined;
  for (const name of ['detail', 'message', 'error', 'title']) {
    const text = body[name];
    if (typeof text === 'string' && text !== '') return text;
  }
  const [first] = Object.values(fieldsOf(body)).flat();
  return first;
}

function fieldsOf(body: unknown): Record<string, string[]> {
  if (!isObject(body)) return {};
  for (const name of ['invalid_fields', 'errors', 'validation_errors']) {
    const given = body[name];
    if (isObject(given)) return textsOf(given);
    if (Array.isArray(given)) return textsOfList(given);
  }
  return textsOf(body);
}

const textsOf = (given: Record<string, unknown>): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, texts]) =>
      Array.isArray(texts) && texts.every((one) => typeof one === 'string') ? [[name, texts]] : [],
    ),
  );

/** As `application/problem+json` says it. */
function textsOfList(problems: readonly unknown[]): Record<string, string[]> {
  const texts: Record<string, string[]> = {};
  for (const one of problems) {
    if (!isObject(one) || typeof one.field !== 'string' || typeof one.detail !== 'string') continue;
    texts[one.field] = [...(texts[one.field] ?? []), one.detail];
  }
  return texts;
}

/** What a refused request was answered, as an error. */
export async function refusalOf(answer: ApiResponse): Promise<ApiError> {
  return new ApiError(answer.status, parsed(await bodyText(answer)), answer.headers['x-request-id']);
}

/** @throws ApiError if the server refuses, Error if it can't be reached */
async function ask(...request: Parameters<typeof hub.call>): Promise<ApiResponse> {
  const answer = await hub.call(...request);
  if (answer.status < 400) return answer;
  throw await refusalOf(answer);
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Sends a request and returns what it answers; undefined for nothing. @throws ApiError, Error */
export async function send({ method, path, headers, body }: Call, more: Record<string, string> = {}): Promise<unknown> {
  const answer = await ask({
    method,
    path,
    headers: { ...headers, ...more },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return parsed(await bodyText(answer));
}

/** Fetches a file with the person's rights, which a plain link would not have. @throws ApiError, Error */
export async function file(path: string, headers = {}, watch?: hub.Watch): Promise<Blob> {
  const { body } = await ask({ method: 'GET', path, headers }, watch);
  return body instanceof Blob ? body : new Blob([body ?? '']);
}

/** How requests of openapi-fetch reach the hub, which has the access token. */
async function viaHub(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  // Not by `request.body`, which not every browser has.
  const body = await request.text();
  const answer = await ask({
    method: request.method,
    path: pathname + search,
    headers: Object.fromEntries(request.headers),
    ...(body !== '' && { body }),
  });
  return new Response(answer.body, { status: answer.status, headers: answer.headers });
}

/** Calls of operations, typed by the API's document. */
export const api = createFetchClient<paths>({ baseUrl: location.origin, fetch: viaHub });
export const $api = createClient(api);

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Events report most changes. This covers the others.
      staleTime: 30_000,
      retry: (times, error) => !(error instanceof ApiError && error.status < 500) && times < 3,
    },
  },
});

const LOOK_MS = 500;

/**
 * Waits until a task has ended, and returns the ID of the first thing of a kind that it made. `leave` ends the waiting, and so
 * does acting for somebody else. @throws ApiError, Error
 */
export async function whenMade(task: string, kind: string, leave?: AbortSignal): Promise<string> {
  const whose = identityOf(hub.session.get());
  for (;;) {
    leave?.throwIfAborted();
    if (identityOf(hub.session.get()) !== whose) throw new Error('You act for another account now.');
    // A server that can't be reached, or has too much to do, is asked again.
    const answer = await api.GET('/v1/tasks/{task_id}', { params: { path: { task_id: task } } }).catch((error) => {
      if (error instanceof ApiError && error.status < 500 && error.status !== 429) throw error;
    });
    const { state, error, created_resources } = answer?.data ?? {};
    if (state === 'ERROR') throw new Error(error ?? 'The task has failed.');
    const [made] = (created_resources as Record<string, string[]> | undefined)?.[kind] ?? [];
    if (state === 'FINISHED' && made !== undefined) return made;
    if (state === 'FINISHED') throw new Error('The task has made nothing.');
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** How often what no event tells of is read. What was refused isn't read again. */
export const OFTEN = {
  refetchInterval: ({ state: { error } }: { state: { error: unknown } }) =>
    error instanceof ApiError && error.status === 403 ? false : 5_000,
} as const;
