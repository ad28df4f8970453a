import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Path, Seed } from './file.ts';

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what operations answer is in the OpenAPI document.
  body: any;
}

/** Sends a request to the API of this process. */
export type Send = (request: { method: string; url: string; authorization: string; body?: unknown }) => Promise<Answer>;

/** Sends requests without a network. */
export function sendTo(app: FastifyInstance): Send {
  return async ({ method, url, authorization, body }) => {
    const answer = await app.inject({
      method: method as 'GET',
      url,
      headers: { authorization, accept: 'application/problem+json, application/json' },
      ...(body !== undefined && { payload: body as object }),
    });
    return { status: answer.statusCode, body: answer.body === '' ? undefined : JSON.parse(answer.body) };
  };
}

/** An operation of the OpenAPI document. */
export interface KnownOperation {
  method: string;
  path: string;
}

/** What the seed asks of the API. Refusals become faults of the file. */
export interface Requests {
  operations: ReadonlyMap<string, KnownOperation>;
  /** Whether there is a list at that path. */
  hasList(path: string): boolean;
  get(url: string, authorization: string): Promise<Answer['body']>;
  /** Waits for the tasks that it starts. @throws SettingError naming the line of the field that is refused */
  post(url: string, authorization: string, body: unknown, at: Path): Promise<Answer['body']>;
}

const LOOK_MS = 50;

export async function createRequests(send: Send, seed: Seed, authorization: string): Promise<Requests> {
  const { body: document } = await send({ method: 'GET', url: '/openapi.json', authorization });
  const operations = new Map<string, KnownOperation>();
  const lists = new Set<string>();
  for (const [path, methods] of Object.entries<Record<string, { operationId: string }>>(document.paths)) {
    for (const [method, { operationId }] of Object.entries(methods)) {
      operations.set(operationId, { method: method.toUpperCase(), path });
      if (method === 'get') lists.add(path);
    }
  }

  async function ended(id: string, authorization: string, at: Path): Promise<void> {
    for (;;) {
      const { body } = await send({ method: 'GET', url: `/v1/tasks/${id}`, authorization });
      if (body.state === 'FINISHED') return;
      if (body.state === 'ERROR') throw seed.fault(at, `its task failed: ${body.error}`);
      await sleep(LOOK_MS);
    }
  }

  return {
    operations,
    hasList: (path) => lists.has(path),
    async get(url, authorization) {
      const { status, body } = await send({ method: 'GET', url, authorization });
      if (status === 200) return body;
      throw new Error(`GET ${url} answered ${status}: ${JSON.stringify(body)}`);
    },
    async post(url, authorization, given, at) {
      const { status, body } = await send({ method: 'POST', url, authorization, body: given });
      if (status >= 300) {
        const [first] = body.errors ?? [];
        if (!first) throw seed.fault(at, body.detail ?? `refused with ${status}`);
        throw seed.fault([...at, ...partsOf(first.field)], first.detail);
      }
      for (const id of tasksIn(body)) await ended(id, authorization, at);
      return body;
    },
  };
}

const partsOf = (field: string): Path => field.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));

const tasksIn = (body: unknown): string[] =>
  Array.isArray(body) && body.every((id) => typeof id === 'string') ? body : [];
