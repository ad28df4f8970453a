import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { LimitFunction } from 'p-limit';
import pLimit from 'p-limit';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Authenticator } from '../iam/identity/service.ts';
import { DomainError, ForbiddenError, TooManyRequestsError, UnauthenticatedError } from '../lib/errors.ts';
import { senderNetwork } from '../lib/ip-addresses.ts';
import { recordedBy } from '../lib/request-context.ts';
import type { IncomingRequest } from '../requests/incoming-request.ts';
import type { RequestMeasures } from '../requests/measures.ts';
import type { Access, Principal } from '../requests/principal.ts';
import * as rights from '../requests/principal.ts';
import { type Area, areaOf, withoutPrefix } from './dialect.ts';

const WINDOW_SECONDS = 10;
type Measures = Pick<RequestMeasures, 'limited'> | undefined;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set where clients have to call repeatedly, such as polling a task. */
    uncounted?: boolean;
  }
}

/**
 * Returns a function that limits the requests that each token may make in a window; every counted answer tells the
 * current state, in the headers of draft-ietf-httpapi-ratelimit-headers. Each process counts for itself. Comes after
 * authentication.
 */
export function rateLimits(
  limit: number,
  measures?: Measures,
): (request: FastifyRequest, reply: FastifyReply, config: FastifyContextConfig) => Promise<void> {
  if (limit === 0) return async () => {};
  const counts = new RateLimiterMemory({ points: limit, duration: WINDOW_SECONDS });
  const policy = `"token";q=${limit};w=${WINDOW_SECONDS}`;
  return async ({ principal }, reply, { access, uncounted }) => {
    if (access === 'public' || uncounted) return;
    const { tokenId, userId } = principal;
    const { consumedPoints, remainingPoints, msBeforeNext } = await counts.penalty(tokenId ?? `user ${userId}`);
    const seconds = secondsOf(msBeforeNext);
    void reply.header('ratelimit-policy', policy);
    void reply.header('ratelimit', `"token";r=${remainingPoints};t=${seconds}`);
    if (consumedPoints > limit) {
      measures?.limited('token');
      throw new TooManyRequestsError(
        `This token has made the ${limit} requests that are allowed in ${WINDOW_SECONDS} seconds; try again in ${seconds} s. Reading a task is not counted.`,
        seconds,
      );
    }
  };
}

const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** Limits requests of unknown callers, by the network that they come from. */
export interface StrangerLimits {
  /** Counts a request. @throws TooManyRequestsError if that exceeds the limit */
  count(address: string): Promise<void>;
  /**
   * Looks up an unknown token, only a few at once for each network: a caller who sends thousands at once
   * would otherwise occupy all database connections before being counted.
   * @throws TooManyRequestsError if there were too many already
   */
  admit<T>(address: string, ask: () => Promise<T>): Promise<T>;
}

const ASKED_AT_ONCE = 4;

/** Callers with a known token are not limited, whatever others behind the same address do. */
export function limitStrangers(limit: number, measures?: Measures): StrangerLimits {
  const asking = new Map<string, { turns: LimitFunction; count: number }>();

  async function inTurn<T>(network: string, work: () => Promise<T>): Promise<T> {
    const line = asking.get(network) ?? { turns: pLimit(ASKED_AT_ONCE), count: 0 };
    asking.set(network, line);
    line.count++;
    try {
      return await line.turns(work);
    } finally {
      line.count--;
      if (line.count === 0) asking.delete(network);
    }
  }

  if (limit === 0) {
    return { count: async () => {}, admit: (address, ask) => inTurn(senderNetwork(address), ask) };
  }
  const counts = new RateLimiterMemory({ points: limit, duration: WINDOW_SECONDS });

  function refuseOver(consumed: number, msBeforeNext: number): void {
    if (consumed <= limit) return;
    measures?.limited('address');
    const seconds = secondsOf(msBeforeNext);
    throw new TooManyRequestsError(
      `More than ${limit} requests without a valid token came from this address in ${WINDOW_SECONDS} seconds; try again in ${seconds} s.`,
      seconds,
    );
  }

  return {
    async count(address) {
      const { consumedPoints, msBeforeNext } = await counts.penalty(senderNetwork(address));
      refuseOver(consumedPoints, msBeforeNext);
    },
    admit(address, ask) {
      const network = senderNetwork(address);
      return inTurn(network, async () => {
        const found = await counts.get(network);
        if (found) refuseOver(found.consumedPoints + 1, found.msBeforeNext);
        return ask();
      });
    },
  };
}

export interface OperationRefusal {
  operation: string;
  reason: string;
}

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Makes sure that the caller still has the rights with which the request was admitted. What isn't in memory is read
     * from the database, over the connection `within` if it is given.
     * @throws UnauthenticatedError, ForbiddenError
     */
    stillAdmitted(request: FastifyRequest, within?: Parameters<IncomingRequest['stillAdmitted']>[0]): Promise<void>;
    /** Whether callers who are known may call an operation of that name. */
    hasOperation(name: string): boolean;
    /** The operations that this caller may not call there, and why. */
    refusalsOf(principal: Principal, projectId: number | undefined): OperationRefusal[];
  }
  interface FastifyRequest {
    /** The caller. Set before the handler runs, on every route that isn't public. */
    principal: Principal;
    /** Whether time may have passed since the caller was admitted. Then it is asked for its rights again before the answer. */
    waits: boolean;
  }
  interface FastifyContextConfig {
    /** Who may call; a route without it admits nobody. */
    access?: Access | 'public';
    /** What only the platform administrator does. The service asks for that, once it knows what it is about. */
    platformDuty?: string;
  }
}

/**
 * Gives the server `stillAdmitted`, which is asked before a request that waited is answered. Returns a function that
 * authenticates and authorizes a request, to be called before the body is read. Unauthenticated requests are counted by
 * address.
 * @throws UnauthenticatedError, ForbiddenError
 */
export function authentication(
  app: FastifyInstance,
  authenticator: Authenticator,
  strangers: StrangerLimits,
): (request: FastifyRequest, config: FastifyContextConfig) => Promise<void> {
  app.decorate('stillAdmitted', async ({ headers, principal, url }, within) => {
    const now = await authenticator.authenticate(headers, undefined, within);
    refuseShutService({ principal: now, url });
    if (rights.hasSameRights(now, principal)) return;
    throw new ForbiddenError('The rights of this token changed while the request waited; send it again');
  });
  const operations = new Map<string, { access: Access; path: string; ofProject: boolean; platformDuty?: string }>();
  app.addHook('onRoute', ({ config, schema, url }) => {
    const { operationId } = (schema ?? {}) as { operationId?: string };
    const { access, platformDuty } = config ?? {};
    if (operationId === undefined || access === undefined || access === 'public') return;
    operations.set(operationId, {
      access,
      path: withoutPrefix(url),
      ofProject: url.includes(':project_id'),
      ...(platformDuty !== undefined && { platformDuty }),
    });
  });
  app.decorate('hasOperation', (name) => operations.has(name));
  app.decorate('refusalsOf', (principal, projectId) =>
    [...operations].flatMap(([operation, { access, path, ofProject, platformDuty }]) => {
      const asked = { operation, path, projectId: ofProject ? projectId : undefined };
      const reason = reasonOf(() => {
        rights.requireAccess(principal, access, () => asked);
        if (platformDuty !== undefined) rights.requirePlatform(principal, platformDuty);
      });
      return reason === undefined ? [] : [{ operation, reason }];
    }),
  );
  app.decorateRequest('waits', false);
  app.addHook('preSerialization', async (request, reply, payload) => {
    if (request.waits && reply.statusCode < 400) await app.stillAdmitted(request);
    return payload;
  });

  return async (request, { access, uncounted }) => {
    if (request.is404 || access === 'public') {
      if (!uncounted) await strangers.count(request.ip);
      return;
    }
    request.principal = await principalOf(request);
    if (!access) throw new ForbiddenError('No token may call this operation');
    rights.requireAddress(request.principal, request.ip);
    rights.requireAccess(request.principal, access, () => askedFor(request));
  };

  function askedFor({ params, routeOptions }: FastifyRequest) {
    const { operationId = '' } = (routeOptions.schema ?? {}) as { operationId?: string };
    const { project_id: projectId } = params as { project_id?: string };
    return { operation: operationId, path: withoutPrefix(routeOptions.url ?? ''), projectId };
  }

  async function principalOf({ headers, ip }: FastifyRequest): Promise<Principal> {
    try {
      return await authenticator.authenticate(headers, (ask) => strangers.admit(ip, ask));
    } catch (error) {
      if (error instanceof UnauthenticatedError) await strangers.count(ip);
      throw error;
    }
  }
}

function reasonOf(judge: () => void): string | undefined {
  try {
    judge();
    return undefined;
  } catch (error) {
    if (error instanceof DomainError) return error.message;
    throw error;
  }
}

const SERVICES: Partial<Record<Area, string>> = { cloud: 'CLOUD', logging: 'CLOUD', streaming: 'STREAMING' };

/** Refuses services that the account's reseller has switched off. Comes after authentication. @throws ForbiddenError */
export function refuseShutService({ principal, url }: Pick<FastifyRequest, 'principal' | 'url'>): void {
  const service = principal?.shutServices && SERVICES[areaOf(url)];
  if (!service || !principal.shutServices?.includes(service)) return;
  throw new ForbiddenError(
    `The service ${service} is switched off for client ${principal.clientId}; its reseller can switch it on`,
  );
}

/** Returns a route's hook that refuses, before the body is read, callers who may not use the number in the path. */
export function pathGuard<On>(
  on: On,
  param: string,
  require: (on: On, principal: Principal, id: number) => Promise<void>,
) {
  return async (request: FastifyRequest): Promise<void> => {
    const id = Number((request.params as Record<string, string>)[param]);
    if (!Number.isSafeInteger(id)) return;
    await recordedBy(request.changing, () => require(on, request.principal, id));
  };
}
