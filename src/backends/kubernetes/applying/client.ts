import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import type { KubernetesObject, ObjectName } from '../rendering/objects.ts';

/** Under this name the API server remembers which fields are ours. */
const FIELD_MANAGER = 'tradewind';

/** A refusal of the API server: its `Status`, with the status code of HTTP. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly reason: string;
  readonly causes: readonly string[];
  readonly retryAfterMs: number | undefined;

  constructor(code: number, body: string, retryAfter: string | undefined) {
    const status = statusOf(body);
    super(status.message ?? (body.slice(0, 200).trim() || `HTTP status ${code}`));
    this.code = code;
    this.reason = status.reason ?? '';
    this.causes = status.details?.causes?.flatMap(({ message }) => message ?? []) ?? [];
    this.retryAfterMs = retryAfter === undefined ? undefined : Number(retryAfter) * 1_000 || undefined;
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
    return {};
  }
}

/** Where a cluster's API server is, and what proves who we are: PEM. */
export interface ClusterAccess {
  /** A URL. */
  server: string;
  caCertificate: string;
  clientCertificate: string;
  clientKey: string;
}

/** An object as the API server returns it. */
export interface LiveObject extends KubernetesObject {
  metadata: KubernetesObject['metadata'] & { uid: string; generation?: number; deletionTimestamp?: string };
}

export interface Client {
  /** Returns undefined if there is no such object, or no such kind. */
  get(name: ObjectName): Promise<LiveObject | undefined>;
  /** Lists objects of a kind by a label or field selector. */
  list(of: Omit<ObjectName, 'name'>, query: Record<string, string>): Promise<LiveObject[]>;
  /** @throws ApiError with code 409 if somebody else owns one of the fields, unless `force` is given */
  apply(object: KubernetesObject, options: { force: boolean }): Promise<LiveObject>;
  create(object: KubernetesObject): Promise<LiveObject>;
  /** Starts the removal. */
  remove(name: ObjectName): Promise<void>;
  /** Returns the last lines that a container wrote before it crashed. */
  lastWords(pod: KubernetesObject, container: string): Promise<string>;
  close(): void;
}

/**
 * Speaks to an API server with a client certificate. A client of our own: the usual package, @kubernetes/client-node,
 * brings 72 MB for the six requests below.
 */
export function createClient({ server, ...access }: ClusterAccess, signal: AbortSignal): Client {
  const { caCertificate: ca, clientCertificate: cert, clientKey: key } = access;
  const agent = new https.Agent({ ca, cert, key, keepAlive: true, maxSockets: 4 });

  async function request(method: string, path: string, body?: unknown, contentType = 'application/json') {
    const headers = {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': contentType }),
    };
    const sent = https.request(new URL(path, server), { method, agent, signal, headers });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    // The answer's stream tells of what breaks from now on.
    sent.on('error', () => {});
    const answered = await text(answer);
    const code = answer.statusCode ?? 0;
    if (code >= 400) throw new ApiError(code, answered, answer.headers['retry-after']);
    return answered;
  }
  const json = async <T>(...given: Parameters<typeof request>) => JSON.parse(await request(...given)) as T;

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
    apply(object, { force }) {
      const query = new URLSearchParams({
        fieldManager: FIELD_MANAGER,
        fieldValidation: 'Strict',
        force: String(force),
      });
      return json('PATCH', `${pathOf(nameOf(object))}?${query}`, object, 'application/apply-patch+yaml');
    },
    create: (object) => json('POST', `${collectionOf(nameOf(object))}?fieldManager=${FIELD_MANAGER}`, object),
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
