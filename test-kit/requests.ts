import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const MOST_KEPT = 1_000;
const MOST_TEXT = 16_384;
const MASK = '***';
const SECRET_FIELDS = /password|secret|token|private_key|user_data|payload|credential|refresh|auth_header/i;

/** A request with its answer, for a test to look at. */
export interface SeenRequest {
  id: string;
  at: string;
  method: string;
  path: string;
  operation: string | null;
  client_id: number | null;
  status: number;
  ms: number;
  /** Fields of the body that nobody knows. */
  ignored: string[];
  request: unknown;
  answer: unknown;
}

export interface SeenRequests {
  /** The newest first. */
  list(): SeenRequest[];
  clear(): void;
}

/** Keeps the last requests of the API. What is secret in them is masked. */
export function keepRequests(app: FastifyInstance, isOwn: (url: string) => boolean): SeenRequests {
  const seen: SeenRequest[] = [];
  app.addHook('onSend', async (request, reply, payload) => {
    if (isOwn(request.url)) return payload;
    seen.push(seenOf(request, reply, payload));
    if (seen.length > MOST_KEPT) seen.shift();
    return payload;
  });
  return {
    list: () => seen.toReversed(),
    clear() {
      seen.length = 0;
    },
  };
}

function seenOf(request: FastifyRequest, reply: FastifyReply, payload: unknown): SeenRequest {
  const { config, schema, url } = request.routeOptions;
  const { operationId } = (schema ?? {}) as { operationId?: string };
  return {
    id: request.id,
    at: new Date().toISOString(),
    method: request.method,
    path: request.url,
    operation: url === undefined ? null : (operationId ?? null),
    client_id: request.principal?.clientId ?? null,
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime),
    ignored: (request.ignored ?? []).map(({ field }) => field),
    request: shown(request.body ?? null),
    answer: config.secretAnswer ? MASK : shown(answerOf(payload)),
  };
}

function answerOf(payload: unknown): unknown {
  if (typeof payload !== 'string' || payload === '') return null;
  try {
    return JSON.parse(payload);
  } catch {
    return payload;
  }
}

/** Without what is secret; the beginning of its text if it is long. */
function shown(value: unknown): unknown {
  const open = masked(value);
  const text = typeof open === 'string' ? open : JSON.stringify(open);
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : open;
}

function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, SECRET_FIELDS.test(name) ? MASK : masked(one)]),
  );
}
