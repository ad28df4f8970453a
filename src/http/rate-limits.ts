import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import pLimit, { type LimitFunction } from 'p-limit';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { TooManyRequestsError } from '../lib/errors.ts';
import { senderNetwork } from '../lib/sender-network.ts';
import { hooks } from './route-hooks.ts';

const WINDOW_SECONDS = 10;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set where clients have to call again and again, such as polling a task. */
    uncounted?: boolean;
  }
}

/**
 * Each token may make so many requests in a window; every counted answer says where it stands, in the headers of
 * draft-ietf-httpapi-ratelimit-headers. Each process counts for itself. Comes after authentication.
 */
export function limitRates(app: FastifyInstance, limit: number): void {
  if (limit === 0) return;
  const counts = new RateLimiterMemory({ points: limit, duration: WINDOW_SECONDS });
  const policy = `"token";q=${limit};w=${WINDOW_SECONDS}`;
  app.addHook('onRoute', (route) => {
    const { access, uncounted } = route.config ?? {};
    if (access === 'public' || uncounted) return;
    route.onRequest = [count, ...hooks(route.onRequest)];
  });

  async function count(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { tokenId, userId } = request.principal;
    const { consumedPoints, remainingPoints, msBeforeNext } = await counts.penalty(
      tokenId ?? `user ${userId}`,
    );
    const seconds = secondsOf(msBeforeNext);
    void reply.header('ratelimit-policy', policy);
    void reply.header('ratelimit', `"token";r=${remainingPoints};t=${seconds}`);
    if (consumedPoints > limit) {
      throw new TooManyRequestsError(
        `This token has made its ${limit} requests of ${WINDOW_SECONDS} seconds; go on in ${seconds} s. Reading a task is not counted.`,
        seconds,
      );
    }
  }
}

const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** Requests of whoever isn't known, by the network that they come from. */
export interface StrangerLimits {
  /** Counts one. @throws TooManyRequestsError when it is one too many */
  count(address: string): Promise<void>;
  /**
   * Asks about a token that isn't known, a few at once for each network: whoever sends thousands together would take all
   * connections to the database, and be counted only afterwards. @throws TooManyRequestsError when there were too many already
   */
  admit<T>(address: string, ask: () => Promise<T>): Promise<T>;
}

const ASKED_AT_ONCE = 4;

/** Whoever shows a token that is known passes, whatever others behind the same address do. */
export function limitStrangers(limit: number): StrangerLimits {
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
    const seconds = secondsOf(msBeforeNext);
    throw new TooManyRequestsError(
      `More than ${limit} requests without a valid token came from this address in ${WINDOW_SECONDS} seconds; go on in ${seconds} s.`,
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
