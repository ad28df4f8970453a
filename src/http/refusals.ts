import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { ForbiddenError, TooManyRequestsError, UnauthenticatedError } from '../lib/errors.ts';
import { senderNetwork } from '../lib/ip-addresses.ts';
import { dryRunNow } from '../lib/request-context.ts';
import type { Refusals } from '../requests/refusals.ts';
import { changesSomething } from './changing-requests.ts';
import { sendError } from './errors.ts';

/** So many refusals of a caller are answered at once in a window. A client that obeys `Retry-After` doesn't reach that. */
const AT_ONCE = 20;
const WINDOW_SECONDS = 10;
const DELAY_MS = 1_000;
/** Each keeps a connection. Beyond that they are answered at once. */
const MOST_HELD = { each: 200, all: 2_000 };

/** Delays answers, which slows down clients that ask again and again without a pause. */
export interface SlowRefusals {
  /**
   * Resolves when a refusal of that caller may be answered: at once, or after a second if there were many lately. Calls
   * `held` with a function that ends the wait.
   */
  pass(caller: string, held: (end: () => void) => void): Promise<void>;
  /** Ends all waits, and lets nobody wait any more. */
  stop(): void;
}

export function slowRefusals(): SlowRefusals {
  const counts = new RateLimiterMemory({ points: AT_ONCE, duration: WINDOW_SECONDS });
  const held = new Map<string, number>();
  const ends = new Set<() => void>();
  let stopped = false;

  function hold(caller: string, tell: (end: () => void) => void): Promise<void> {
    held.set(caller, (held.get(caller) ?? 0) + 1);
    return new Promise((resolve) => {
      const end = () => {
        if (!ends.delete(end)) return;
        clearTimeout(timer);
        const left = (held.get(caller) ?? 1) - 1;
        if (left === 0) held.delete(caller);
        else held.set(caller, left);
        resolve();
      };
      const timer = setTimeout(end, DELAY_MS);
      ends.add(end);
      tell(end);
    });
  }

  return {
    async pass(caller, tell) {
      const { consumedPoints } = await counts.penalty(caller);
      if (stopped || consumedPoints <= AT_ONCE) return;
      if (ends.size >= MOST_HELD.all || (held.get(caller) ?? 0) >= MOST_HELD.each) return;
      await hold(caller, tell);
    },
    stop() {
      stopped = true;
      for (const end of ends) end();
    },
  };
}

/** Returns a function that waits before an answer that there are too many requests, if its account or network has had many lately. */
function slowingRefusals(app: FastifyInstance): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const refusals = slowRefusals();
  app.addHook('preClose', async () => refusals.stop());
  return ({ principal, ip }, { raw }) =>
    refusals.pass(principal ? `account ${principal.clientId}` : senderNetwork(ip), (end) => {
      if (raw.destroyed) end();
      else raw.once('close', end);
    });
}

/** What is done about requests that fail. */
export interface FaultDeps {
  refusals: Refusals;
  /** Turns errors of lower layers into domain errors, if there is one for them. */
  nameFault: (error: Error) => Error;
}

/** Answers requests that fail. Refusals are noted, and answered slowly if one caller has many. */
export function answerFaults(app: FastifyInstance, { refusals, nameFault }: FaultDeps): void {
  const noteRefusal = noteRefusals(refusals);
  const slowDown = slowingRefusals(app);
  app.setErrorHandler<Error>((error, request, reply) => {
    noteRefusal(error, request);
    const named = nameFault(error);
    const send = () => sendError(named, request, reply);
    if (!(named instanceof TooManyRequestsError)) send();
    // The framework takes a promise for an answer of its own.
    else void slowDown(request, reply).then(send);
  });
}

/** Returns a function that has refused credentials and rights recorded. Requests for a change record them themselves. */
function noteRefusals(refusals: Refusals): (error: Error, request: FastifyRequest) => void {
  return (error, request) => {
    if (request.routeOptions.config.access === 'public' || dryRunNow()) return;
    if (error instanceof UnauthenticatedError) {
      if (!error.given) return;
      const { refused } = error;
      refusals.note({ ...about(request), status: 401, whose: refused, reason: refused?.reason ?? 'unknown' });
    } else if (
      error instanceof ForbiddenError &&
      request.principal &&
      !changesSomething(request.method, request.routeOptions.config)
    ) {
      refusals.note({ ...about(request), status: 403, whose: request.principal, reason: 'no right' });
    }
  };
}

function about(request: FastifyRequest) {
  const { operationId } = (request.routeOptions.schema ?? {}) as { operationId?: string };
  return {
    id: request.id,
    operation: operationId ?? '',
    method: request.method,
    path: request.url.split('?', 1)[0] ?? '',
    ip: request.ip,
    userAgent: request.headers['user-agent'],
  };
}
