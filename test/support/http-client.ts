import { setTimeout as sleep } from 'node:timers/promises';

/** How long tests wait for what happens by itself. It only ends a test that hangs. */
export const SOON = { timeout: 60_000, interval: 50 } as const;

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service sent, and asserts on it.
  body: any;
}

export interface HttpClient {
  base: string;
  token: string | undefined;
  request(
    method: string,
    path: string,
    options?: { body?: unknown; headers?: Record<string, string>; raw?: string },
  ): Promise<Answer>;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  patch(path: string, body?: unknown): Promise<Answer>;
  put(path: string, body?: unknown): Promise<Answer>;
  delete(path: string): Promise<Answer>;
  /** Waits until a task has ended, and returns it. Fails if that takes longer than `withinMs`. */
  task(id: string, withinMs?: number): Promise<Answer['body']>;
}

/** Sends JSON over real HTTP. A `raw` body is sent unchanged. */
export function createHttpClient(
  base: string,
  token: string | undefined,
  word: 'apikey' | 'Bearer' = 'apikey',
): HttpClient {
  async function request(
    method: string,
    path: string,
    { body, headers = {}, raw }: Parameters<HttpClient['request']>[2] = {},
  ): Promise<Answer> {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(base + path, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `${word} ${token}` }),
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload !== undefined && { body: payload }),
      redirect: 'manual',
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parsed(text) };
  }

  return {
    base,
    token,
    request,
    get: (path) => request('GET', path),
    post: (path, body) => request('POST', path, { body }),
    patch: (path, body) => request('PATCH', path, { body }),
    put: (path, body) => request('PUT', path, { body }),
    delete: (path) => request('DELETE', path),
    async task(id, withinMs = SOON.timeout) {
      const deadline = Date.now() + withinMs;
      for (;;) {
        // Asked again and again, the service would have less time for the task.
        const headers = { prefer: 'wait=5' };
        const { status, body, text } = await request('GET', `/v1/tasks/${id}`, { headers });
        if (status !== 200) throw new Error(`Task ${id} answered ${status}: ${text}`);
        if (body.state === 'FINISHED' || body.state === 'ERROR') return body;
        if (Date.now() > deadline) throw new Error(`Task ${id} is still ${body.state} after ${withinMs} ms`);
        await sleep(20);
      }
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
