/** A client of Tradewind's test kit, for Vitest, Jest or any other runner. It needs nothing but Node. */
const { TRADEWIND_URL = 'http://127.0.0.1:8080', TRADEWIND_TOKEN = '' } = process.env;

export type Effect =
  | { status: number; retry_after?: number; message?: string }
  | { delay_ms: number }
  | { drop: 'before' | 'after_commit' }
  | { quota: string }
  | { fail: string }
  | { hold: true };

/** What goes wrong, and where. A field that is left out matches everything. */
export interface Fault {
  operation?: string;
  task?: string;
  kind?: string;
  name?: string;
  client_id?: number;
  nth?: number;
  times?: number;
  probability?: number;
  seed?: number;
  do: Effect;
}

export interface Answer<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

export interface Task {
  id: string;
  state: 'NEW' | 'RUNNING' | 'FINISHED' | 'ERROR';
  error: string | null;
  created_resources: Record<string, string[]> | null;
}

/** Calls the API. Undefined bodies are not sent. */
// biome-ignore lint/suspicious/noExplicitAny: the caller knows what the operation answers.
export async function call<Body = any>(method: string, path: string, body?: unknown): Promise<Answer<Body>> {
  const response = await fetch(TRADEWIND_URL + path, {
    method,
    headers: {
      authorization: `apikey ${TRADEWIND_TOKEN}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

async function kit<Body>(method: string, path: string, body?: unknown): Promise<Body> {
  const answer = await call<Body>(method, `/tradewind/v1/test${path}`, body);
  if (answer.status >= 300)
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Everything is as when the server had started: also the clock, and there are no faults. */
export const reset = () => kit<void>('POST', '/reset', { scope: 'all' });

export const takeSnapshot = (name: string) => kit<void>('POST', '/snapshots', { name });
export const restoreSnapshot = (name: string) => kit<void>('POST', `/snapshots/${name}/restore`);
export const removeSnapshot = (name: string) => kit<void>('DELETE', `/snapshots/${name}`);

/** Returns the fault's id. */
export const addFault = async (fault: Fault) => (await kit<{ id: number }>('POST', '/faults', fault)).id;
export const removeFault = (id: number) => kit<void>('DELETE', `/faults/${id}`);
/** Returns how often each fault has hit. */
export const faultHits = async () =>
  (await kit<{ results: { hits: number }[] }>('GET', '/faults')).results.map(({ hits }) => hits);

export const setClock = (to: { at?: string; advance_s?: number; running?: boolean }) =>
  kit<{ at: string; running: boolean }>('POST', '/clock', to);
export const setSpeed = (speed: number) => kit<void>('POST', '/simulation', { speed });

export const finishTask = (id: string) => kit<void>('POST', `/tasks/${id}/finish`);
export const failTask = (id: string, reason: string) => kit<void>('POST', `/tasks/${id}/fail`, { reason });

/** Waits until the task has ended. */
export async function ended(id: string): Promise<Task> {
  for (;;) {
    const response = await fetch(`${TRADEWIND_URL}/v1/tasks/${id}`, {
      headers: { authorization: `apikey ${TRADEWIND_TOKEN}`, prefer: 'wait=10' },
    });
    if (!response.ok) throw new Error(`Task ${id}: ${response.status} ${await response.text()}`);
    const task = (await response.json()) as Task;
    if (task.state === 'FINISHED' || task.state === 'ERROR') return task;
  }
}
