import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InvalidError } from '../lib/errors.ts';
import type { Versioned } from '../lib/versioned.ts';
import type { IncomingRequest } from '../requests/incoming-request.ts';
import type { ChangingRequest, RequestLog } from '../requests/request-log.ts';
import { withoutPrefix } from './dialect.ts';
import { hooks } from './dialect-hooks.ts';

const CHANGING = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** Other methods may be repeated anyway. */
const KEYED = new Set(['POST', 'PATCH']);
const KEY = /^[\x21-\x7e]([\x20-\x7e]{0,253}[\x21-\x7e])?$/;
const ENTITY_TAGS = /^\s*(W\/)?"[\x21\x23-\x7e]*"(\s*,\s*(W\/)?"[\x21\x23-\x7e]*")*\s*$/;
const STRONG_TAG = /(W\/)?"([^"]*)"/g;

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on requests that change something. */
    changing: ChangingRequest | undefined;
    /** The version of the resource, read before the resource itself. */
    versionRead: string | undefined;
  }
  interface FastifyContextConfig {
    /** The answer contains a secret and must not be stored: not by caches, and not by us for an `Idempotency-Key`. */
    secretAnswer?: boolean;
    /** For a POST that changes nothing, such as a price preview. */
    onlyAsks?: boolean;
    /** For a GET that is recorded like a change: a login in another user's name, the kubeconfig of a cluster. */
    noted?: boolean;
    /**
     * The resource at this address. Reads return its version as `ETag`; changes of it, and of anything below it, may
     * name a version in `If-Match`. One route of each address declares this, usually the one that reads it.
     */
    versioned?: Versioned;
  }
  interface FastifyInstance {
    /** Returns the resource at a route's address, or else the nearest one above it. */
    versionedAt(route: string): Versioned | undefined;
  }
}

/**
 * Handles what changing requests may ask for in addition: to be carried out only once (`Idempotency-Key`), or
 * only on the version that the client has seen (`If-Match`, with the `ETag` of a read). All of them are
 * recorded. Comes after authentication.
 */
export function keepChangingRequests(app: FastifyInstance, log: RequestLog): void {
  knowVersionedRoutes(app);
  app.decorateRequest('changing');
  app.decorateRequest('versionRead');
  // Most routes only read and have no version, so that they need none of these hooks.
  app.addHook('onRoute', (route) => {
    const { versioned, onlyAsks } = route.config ?? {};
    if (changesSomething(String(route.method), route.config)) {
      route.onRequest = [open, ...hooks(route.onRequest)];
      route.preHandler = [ask, ...hooks(route.preHandler)];
      route.onSend = [keep, ...hooks(route.onSend)];
      route.onResponse = [note, ...hooks(route.onResponse)];
    } else if (route.method === 'GET' && versioned && !versioned.field) {
      route.preHandler = [readVersion, ...hooks(route.preHandler)];
      route.onSend = [sendVersion, ...hooks(route.onSend)];
    } else if (route.method !== 'GET' && onlyAsks) {
      route.preHandler = [lookAgain, ...hooks(route.preHandler)];
    }
    // What lies below shows a version of its own: a new rule, a copy of the group.
    if (versioned?.field) {
      route.preSerialization = [showVersion(versioned.field), ...hooks(route.preSerialization)];
    }
  });

  function open(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
    if (request.principal) request.changing = log.open(incoming(request));
    done();
  }

  /** What only asks has no transaction in which that is done, and its body may come as slowly. */
  async function lookAgain(request: FastifyRequest): Promise<void> {
    if (request.principal) await app.stillAdmitted(request);
  }

  async function ask(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { changing } = request;
    const versions = wantedVersions(request.headers['if-match']);
    if (versions) changing?.onlyVersions(versions, app.versionedAt(request.routeOptions.url ?? ''));
    const key = request.headers['idempotency-key'];
    if (key === undefined || !KEYED.has(request.method)) return;
    const answer = await changing?.once(acceptedKey(key), request.body);
    if (!answer) return;
    void reply.header('idempotency-replayed', 'true').code(answer.status);
    if (answer.body !== '') void reply.type('application/json; charset=utf-8');
    await reply.send(answer.body);
  }

  async function keep(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
    if (isGood(reply) && mayBeKept(request, reply) && !request.dryRun) {
      const body = typeof payload === 'string' ? payload : '';
      await request.changing?.answering({ status: reply.statusCode, body });
    }
    return payload;
  }

  function note(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
    const { statusCode } = reply;
    done();
    // Nothing is left of it, whatever the answer.
    if (request.dryRun) return;
    // What comes in masses must not push out the records of others: an overload, and a client in a runaway loop.
    if (statusCode === 503) return;
    if (request.changing) request.changing.answered(statusCode);
    else if (request.principal && statusCode !== 429) log.turnedAway(incoming(request), statusCode);
  }

  async function readVersion(request: FastifyRequest): Promise<void> {
    const { versioned } = request.routeOptions.config;
    request.versionRead = versioned && (await log.versionRead(versioned, paramsOf(request)));
  }

  function sendVersion(
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: (error: null, payload: unknown) => void,
  ): void {
    if (isGood(reply) && request.versionRead !== undefined) tag(reply, request.versionRead);
    done(null, payload);
  }

  function showVersion(field: string) {
    return (
      _request: FastifyRequest,
      reply: FastifyReply,
      payload: unknown,
      done: (error: null, payload: unknown) => void,
    ): void => {
      const version = (payload as Record<string, unknown> | null)?.[field];
      if (typeof version === 'number') tag(reply, String(version));
      done(null, payload);
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
      route: withoutPrefix(request.routeOptions.url ?? ''),
      params: paramsOf(request),
      operation: operationId ?? '',
      body: () => request.body,
      success: Number(Object.keys(response ?? {})[0] ?? 200),
      ip: request.ip,
      userAgent: request.headers['user-agent'],
      principal: request.principal,
      stillAdmitted: (within) => app.stillAdmitted(request, within),
    };
  }
}

function isGood({ statusCode }: FastifyReply): boolean {
  return statusCode >= 200 && statusCode < 300;
}

function tag(reply: FastifyReply, version: string): void {
  void reply.header('etag', `"${version}"`);
}

/** Whether a request changes something. Asking for a price or a limit doesn't, whatever the method. */
export function changesSomething(method: string, config: FastifyContextConfig | undefined): boolean {
  return config?.noted === true || (CHANGING.has(method) && !config?.onlyAsks);
}

function mayBeKept(request: FastifyRequest, reply: FastifyReply): boolean {
  return !request.routeOptions.config.secretAnswer && !reply.hasHeader('idempotency-replayed');
}

function paramsOf(request: FastifyRequest): IncomingRequest['params'] {
  return request.params as IncomingRequest['params'];
}

function acceptedKey(given: string | string[]): string {
  const key = String(given);
  if (KEY.test(key)) return key;
  throw new InvalidError({
    'Idempotency-Key': ['Must be 1 to 255 ASCII characters without spaces at the beginning or end, such as a UUID.'],
  });
}

/**
 * Returns the versions that a change is meant for; undefined if the request doesn't say. Weak tags match
 * nothing (RFC 9110).
 */
function wantedVersions(header: string | undefined): string[] | 'any' | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return 'any';
  if (!ENTITY_TAGS.test(header)) {
    throw new InvalidError({
      'If-Match': ['Must be * or the ETag from an earlier read, with its quotes: "7".'],
    });
  }
  return [...header.matchAll(STRONG_TAG)].flatMap(([, weak, version]) =>
    weak || version === undefined ? [] : [version],
  );
}

function knowVersionedRoutes(app: FastifyInstance): void {
  const resources = new Map<string, Versioned>();
  app.addHook('onRoute', ({ url, config }) => {
    if (config?.versioned) resources.set(named(url).join('/'), config.versioned);
  });
  app.decorate('versionedAt', (route) => {
    for (const parts = named(route); parts.length > 0; parts.pop()) {
      const found = resources.get(parts.join('/'));
      if (found) return found;
    }
    return undefined;
  });
}

/** Splits a route into parts. The pattern in brackets after a parameter is not part of its name. */
function named(route: string): string[] {
  return route.split('/').map((part) => part.split('(', 1)[0] ?? '');
}
