import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hooks } from './route-hooks.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The answer contains a secret and must not be stored: not by caches, and not by us for an
     * `Idempotency-Key`.
     */
    secretAnswer?: boolean;
  }
}

export function forbidKeepingSecrets(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.secretAnswer) route.onRequest = [noStore, ...hooks(route.onRequest)];
  });
}

function noStore(_request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  void reply.header('cache-control', 'no-store');
  done();
}
