import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { Unavailable } from '../../src/backends/contract/backend.ts';
import type { KubernetesObject, ObjectName } from '../rendering/objects.ts';

/** Under this name the API server remembers which fields are ours. */
const FIELD_MANAGER = 'tradewind';
const PATIENCE_MS = 10_000;
const WATCH_SECONDS = 300;
/** Who owns a cluster can fill it; lists of what we ask for are far smaller. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

/** A refusal of the API server, which another attempt won't change: its `Status`, with the status code of HTTP. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly reason: string;
  readonly causes: readonly string[];

  constructor(code: number, status: Status) {
    super(status.message ?? `HTTP status ${code}`);
    this.code = code;
    this.reason = status.reason ?? '';
    this.causes = status.details?.causes?.flatMap(({ message }) => message ?? []) ?? [];
  }
}

interface Status {
  message?: string;
  reason?: string;
  details?: { causes?: { message?: string }[] };
}

function statusOf(body: string): Status {
  try {
    const status = JSON.parse(body) as Status | null;
    return status ?? {};
  } catch {
    // Such as `404 page not found`, for a kind that the cluster doesn't have.
    const message = body.slice(0, 200).trim();
    return message === '' ? {} : { message };
  }
}

function failure(code: number, body: string, retryAfter: string | undefined): Error {
  const status = statusOf(body);
  // It does not know us yet, or not any more until a login is renewed.
  if (code < 500 && code !== 401 && code !== 429) return new ApiError(code, status);
  const retryAfterMs = Number(retryAfter) * 1_000;
  return new Unavailable(
    `the API server answers ${code}: ${status.message ?? ''}`,
    retryAfterMs > 0 ? { retryAfterMs } : {},
  );
}

/** Where a cluster's API server is, and what proves who we are: certificates as PEM, or a token. */
export type ClusterAccess = {
  /** A URL. */
  server: string;
  caCertificate: string;
} & ({ clientCertificate: string; clientKey: string; token?: never } | { token: string });

/** An object as the API server returns it. */
export interface LiveObject extends KubernetesObject {
  metadata: KubernetesObject['metadata'] & { uid: string; generation?: number; deletionTimestamp?: string };
}

/** What a watch tells: `ADDED` of all that is there first, then of each change. */
export interface Change {
  type: 'ADDED' | 'BOOKMARK' | 'DELETED' | 'ERROR' | 'MODIFIED';
  object: LiveObject;
}

/** All throw ApiError for a refusal, and Unavailable where another attempt may succeed. */
export interface Client {
  /** Returns undefined if there is no such object, or no such kind. */
  get(name: ObjectName): Promise<LiveObject | undefined>;
  /** Lists objects of a kind by a label or field selector, of all namespaces where none is given. */
  list(of: Omit<ObjectName, 'name'>, query: Record<string, string>): Promise<LiveObject[]>;
  /** Ends when the API server does, which is after some minutes. */
  watch(of: Omit<ObjectName, 'name'>, query: Record<string, string>): AsyncIterable<Change>;
  /** @throws ApiError with code 409 if somebody else owns one of the fields, unless `force` is given */
  apply(object: KubernetesObject, options: { force: boolean }): Promise<LiveObject>;
  create(object: KubernetesObject): Promise<LiveObject>;
  /** Replaces what is given of the status, lists as a whole. */
  changeStatus(name: ObjectName, status: object): Promise<void>;
  /** Starts the removal. */
  remove(name: ObjectName): Promise<void>;
  /** Returns the last lines that a container wrote before it crashed. */
  lastWords(pod: KubernetesObject, container: string): Promise<string>;
  close(): void;
}

/**
 * Speaks to an API server. A client of our own: the usual package, @kubernetes/client-node,
 * brings 72 MB for the few requests below.
 */
export function createClient(access: ClusterAccess, signal: AbortSignal, fieldManager = FIELD_MANAGER): Client {
  const { server, caCertificate: ca } = access;
  // It may have a path, such as that of a proxy before several clusters.
  const root = server.endsWith('/') ? server.slice(0, -1) : server;
  const proof = 'token' in access ? {} : { cert: access.clientCertificate, key: access.clientKey };
  const agent = new https.Agent({ ca, ...proof, keepAlive: true, maxSockets: 4 });

  async function answerTo(method: string, path: string, body?: unknown, contentType = 'application/json') {
    const headers = {
      accept: 'application/json',
      ...('token' in access && { authorization: `Bearer ${access.token}` }),
      ...(body !== undefined && { 'content-type': contentType }),
    };
    const sent = https.request(new URL(`${root}${path}`), {
      method,
      agent,
      signal,
      headers,
      timeout: PATIENCE_MS,
    });
    sent.on('timeout', () => sent.destroy(new Unavailable('the API server does not answer')));
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const [answer] = (await once(sent, 'response').catch(unreachable)) as [IncomingMessage];
    // The answer's stream tells of what breaks from now on.
    sent.on('error', () => {});
    const code = answer.statusCode ?? 0;
    if (code >= 400) throw failure(code, await textOf(answer).catch(unreachable), answer.headers['retry-after']);
    return { sent, answer };
  }
  const request = async (...given: Parameters<typeof answerTo>) =>
    textOf((await answerTo(...given)).answer).catch(unreachable);
  function unreachable(error: Error): never {
    if (signal.aborted || error instanceof Unavailable) throw error;
    throw new Unavailable(`the API server can not be reached: ${error.message}`, { cause: error });
  }
  async function json<T>(...given: Parameters<typeof request>): Promise<T> {
    const text = await request(...given);
    try {
      return JSON.parse(text) as T;
    } catch {
      throw new Unavailable('the API server answers something else than JSON');
    }
  }

  return {
    async get(name) {
      try {
        return await json<LiveObject>('GET', pathOf(name));
      } catch (error) {
        if (error instanceof ApiError && error.code === 404) return undefined;
        throw error;
      }
    },
    async list(of, query) {
      const path = `${collectionOf(of)}?${new URLSearchParams(query)}`;
      return (await json<{ items: LiveObject[] }>('GET', path)).items;
    },
    async *watch(of, query) {
      const how = { ...query, watch: 'true', timeoutSeconds: String(WATCH_SECONDS) };
      const { sent, answer } = await answerTo('GET', `${collectionOf(of)}?${new URLSearchParams(how)}`);
      // Nothing comes while nothing changes. A connection that broke unnoticed ends all the same.
      sent.setTimeout(WATCH_SECONDS * 1_000 + PATIENCE_MS);
      try {
        for await (const line of linesOf(answer)) yield JSON.parse(line) as Change;
      } catch (error) {
        unreachable(error as Error);
      } finally {
        sent.destroy();
      }
    },
    apply(object, { force }) {
      const query = new URLSearchParams({
        fieldManager,
        fieldValidation: 'Strict',
        force: String(force),
      });
      return json('PATCH', `${pathOf(nameOf(object))}?${query}`, object, 'application/apply-patch+yaml');
    },
    create: (object) => json('POST', `${collectionOf(nameOf(object))}?fieldManager=${fieldManager}`, object),
    async changeStatus(name, status) {
      await request('PATCH', `${pathOf(name)}/status`, { status }, 'application/merge-patch+json');
    },
    async remove(name) {
      await request('DELETE', `${pathOf(name)}?propagationPolicy=Background`);
    },
    lastWords({ metadata: { name, namespace = '' } }, container) {
      const query = new URLSearchParams({ container, previous: 'true', tailLines: '5', limitBytes: '2000' });
      const pod = pathOf({ apiVersion: 'v1', kind: 'Pod', name, namespace });
      return request('GET', `${pod}/log?${query}`);
    },
    close: () => agent.destroy(),
  };
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) text = bounded(text + chunk);
  return text;
}

async function* linesOf(answer: IncomingMessage): AsyncIterable<string> {
  let rest = '';
  for await (const chunk of answer.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n');
    rest = bounded(lines.pop() ?? '');
    yield* lines;
  }
}

function bounded(text: string): string {
  if (text.length > MOST_CHARACTERS) throw new Unavailable('the answer of the API server is too long');
  return text;
}

export function nameOf({ apiVersion, kind, metadata: { name, namespace } }: KubernetesObject): ObjectName {
  return { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) };
}

const pathOf = ({ name, ...of }: ObjectName): string => `${collectionOf(of)}/${encodeURIComponent(name)}`;

/** The plural of every kind that we use follows English. */
function collectionOf({ apiVersion, kind, namespace }: Omit<ObjectName, 'name'>): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const plural = `${kind.toLowerCase()}${kind.endsWith('s') ? 'es' : 's'}`;
  return `${root}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${plural}`;
}
