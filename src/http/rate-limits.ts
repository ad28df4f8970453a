import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { TooManyRequestsError } from '../lib/errors.ts';
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
    const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
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
