import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InvalidError } from '../lib/errors.ts';
import type { ChangingRequest, IncomingRequest, RequestLog } from '../requests/request-log.ts';
import { withoutPrefix } from './dialect.ts';

const CHANGING = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** The others may be repeated anyway. */
const KEYED = new Set(['POST', 'PATCH']);
const KEY = /^[\x21-\x7e]([\x20-\x7e]{0,253}[\x21-\x7e])?$/;
const ENTITY_TAGS = /^\s*(W\/)?"[\x21\x23-\x7e]*"(\s*,\s*(W\/)?"[\x21\x23-\x7e]*")*\s*$/;
const STRONG_TAG = /(W\/)?"([^"]*)"/g;

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on a request that is to change something. */
    changing: ChangingRequest | undefined;
    /** The version of the resource before it was read. */
    versionRead: string | undefined;
  }
  interface FastifyContextConfig {
    /** The answer holds a secret that is shown once, so that nothing may keep it. */
    secretAnswer?: boolean;
    /** A POST that changes nothing, such as a price preview. */
    onlyAsks?: boolean;
    /** A GET that is noted like a change: a login in somebody's name. */
    noted?: boolean;
  }
}

/**
 * What a request that changes something may ask besides: to be carried out once (`Idempotency-Key`), or only to the
 * version that the client has seen (`If-Match`, with the `ETag` of a read). All of them are noted. Comes after authentication.
 */
export function keepChangingRequests(app: FastifyInstance, log: RequestLog): void {
  app.decorateRequest('changing');
  app.decorateRequest('versionRead');

  app.addHook('onRequest', (request, _reply, done) => {
    if (request.principal && changes(request)) {
      request.changing = log.open(incoming(request));
      request.principal = { ...request.principal, writes: request.changing };
    }
    done();
  });

  app.addHook('preHandler', async (request, reply) => {
    const { changing } = request;
    if (!changing) {
      if (request.method === 'GET' && request.principal) {
        request.versionRead = await log.versionRead(placed(request));
      }
      return;
    }
    const versions = wantedVersions(request.headers['if-match']);
    if (versions) changing.onlyVersions(versions);
    const key = request.headers['idempotency-key'];
    if (key === undefined || !KEYED.has(request.method)) return;
    const answer = await changing.once(acceptedKey(key), request.body);
    if (!answer) return;
    void reply.header('idempotency-replayed', 'true').code(answer.status);
    if (answer.body !== '') void reply.type('application/json; charset=utf-8');
    await reply.send(answer.body);
  });

  app.addHook('preSerialization', (request, reply, payload: unknown, done) => {
    const version = request.principal && log.versionShown(placed(request).route, payload);
    if (version !== undefined) void reply.header('etag', `"${version}"`);
    done(null, payload);
  });

  app.addHook('onSend', async (request, reply, payload) => {
    const ok = reply.statusCode >= 200 && reply.statusCode < 300;
    if (ok && request.versionRead !== undefined) void reply.header('etag', `"${request.versionRead}"`);
    if (ok && request.changing && mayBeKept(request, reply)) {
      await request.changing.answering({
        status: reply.statusCode,
        body: typeof payload === 'string' ? payload : '',
      });
    }
    return payload;
  });

  app.addHook('onResponse', (request, reply, done) => {
    // A loop that ran wild must not push out what others did.
    if (reply.statusCode === 429) return done();
    if (request.changing) request.changing.answered(reply.statusCode);
    else if (request.principal && changes(request)) log.turnedAway(incoming(request), reply.statusCode);
    done();
  });
}

/** What only asks for a price or a limit changes nothing, whatever its method is. */
export function changesSomething(method: string, config: FastifyContextConfig | undefined): boolean {
  return config?.noted === true || (CHANGING.has(method) && !config?.onlyAsks);
}

function changes(request: FastifyRequest): boolean {
  return changesSomething(request.method, request.routeOptions.config);
}

function mayBeKept(request: FastifyRequest, reply: FastifyReply): boolean {
  return !request.routeOptions.config.secretAnswer && !reply.hasHeader('idempotency-replayed');
}

function placed(request: FastifyRequest): Pick<IncomingRequest, 'route' | 'params'> {
  return {
    route: withoutPrefix(request.routeOptions.url ?? ''),
    params: request.params as IncomingRequest['params'],
  };
}

function incoming(request: FastifyRequest): IncomingRequest {
  const { operationId, response } = (request.routeOptions.schema ?? {}) as {
    operationId?: string;
    response?: object;
  };
  return {
    id: request.id,
    method: request.method,
    url: request.url,
    ...placed(request),
    operation: operationId ?? '',
    success: Number(Object.keys(response ?? {})[0] ?? 200),
    ip: request.ip,
    userAgent: request.headers['user-agent'],
    principal: request.principal,
  };
}

function acceptedKey(given: string | string[]): string {
  const key = String(given);
  if (KEY.test(key)) return key;
  throw new InvalidError({
    'Idempotency-Key': ['Must be 1 to 255 characters of ASCII, without blanks around them; a UUID is good.'],
  });
}

/** The versions that a change is meant for; undefined when the request doesn't say. Weak tags fit nothing (RFC 9110). */
function wantedVersions(header: string | undefined): string[] | 'any' | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return 'any';
  if (!ENTITY_TAGS.test(header)) {
    throw new InvalidError({ 'If-Match': ['Must be * or the ETag of a read, with its quotes: "7".'] });
  }
  return [...header.matchAll(STRONG_TAG)].flatMap(([, weak, version]) =>
    weak || version === undefined ? [] : [version],
  );
}
