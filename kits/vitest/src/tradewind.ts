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

/** Calls the API of a server as one account. */
export class Client {
  readonly url: string;
  readonly token: string;

  constructor(url: string, token: string) {
    this.url = url;
    this.token = token;
  }

  /** Calls the API. Undefined bodies are not sent. */
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows what the operation answers.
  async call<Body = any>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<Body>> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        authorization: `apikey ${this.token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
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

  /** Calls the API, and throws if it refuses. */
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows what the operation answers.
  async must<Body = any>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Body> {
    const answer = await this.call<Body>(method, path, body, headers);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** Waits until the task has ended. */
  async ended(id: string): Promise<Task> {
    for (;;) {
      const task = await this.must<Task>('GET', `/v1/tasks/${id}`, undefined, { prefer: 'wait=10' });
      if (task.state === 'FINISHED' || task.state === 'ERROR') return task;
    }
  }
}

/** An account with a project of its own, which others don't see. */
export class Tenant extends Client {
  readonly clientId: number;
  readonly projectId: number;

  constructor(url: string, token: string, clientId: number, projectId: number) {
    super(url, token);
    this.clientId = clientId;
    this.projectId = projectId;
  }
}

/** The administrator of a server with TRADEWIND_TEST_API=true. */
export class Tradewind extends Client {
  private kit<Body = void>(method: string, path: string, body?: unknown): Promise<Body> {
    return this.must<Body>(method, `/tradewind/v1/test${path}`, body);
  }

  /** Everything is as when the server had started: also the clock, and there are no faults. */
  reset = () => this.kit('POST', '/reset', { scope: 'all' });

  /** Makes an account with an administrator's token. */
  async makeTenant(company = `test ${crypto.randomUUID()}`): Promise<Tenant> {
    const { id } = await this.must('POST', '/iam/clients/create', { company });
    const { token } = await this.must('POST', `/iam/v2/clients/${id}/tokens`, {
      name: 'test',
      exp_date: null,
      client_user: { role: { name: 'Administrators' } },
    });
    const { results } = await new Client(this.url, token).must('GET', '/cloud/v1/projects');
    return new Tenant(this.url, token, id, results[0].id);
  }

  takeSnapshot = (name: string) => this.kit('POST', '/snapshots', { name });
  restoreSnapshot = (name: string) => this.kit('POST', `/snapshots/${name}/restore`);
  removeSnapshot = (name: string) => this.kit('DELETE', `/snapshots/${name}`);

  /** Returns the fault's id. */
  addFault = async (fault: Fault) => (await this.kit<{ id: number }>('POST', '/faults', fault)).id;
  removeFault = (id: number) => this.kit('DELETE', `/faults/${id}`);
  /** Returns how often each fault has hit. */
  faultHits = async () =>
    (await this.kit<{ results: { hits: number }[] }>('GET', '/faults')).results.map(({ hits }) => hits);

  setClock = (to: { at?: string; advance_s?: number; running?: boolean }) =>
    this.kit<{ at: string; running: boolean }>('POST', '/clock', to);
  setSpeed = (speed: number) => this.kit('POST', '/simulation', { speed });

  finishTask = (id: string) => this.kit('POST', `/tasks/${id}/finish`);
  failTask = (id: string, reason: string) => this.kit('POST', `/tasks/${id}/fail`, { reason });
}
