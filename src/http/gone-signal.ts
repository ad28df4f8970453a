import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Admission } from './authentication.ts';

declare module 'fastify' {
  interface FastifyInstance {
    stillAdmitted: Admission['stillAdmitted'];
  }
  interface FastifyRequest {
    /** Whether time may have passed since the caller was admitted. */
    waits: boolean;
  }
}

/** How long a check that the caller may still read holds. */
const CHECK_MS = 1_000;

/** Has requests that wait authenticated again before their answer. */
export function lookAgainAfterWaits(app: FastifyInstance, { stillAdmitted }: Admission): void {
  app.decorate('stillAdmitted', stillAdmitted);
  app.decorateRequest('waits', false);
  app.addHook('preSerialization', async (request, reply, payload) => {
    if (request.waits && reply.statusCode < 400) await stillAdmitted(request);
    return payload;
  });
}

/**
 * Returns a signal that fires when nobody waits for the answer any more: the connection has ended, or the caller has lost
 * the rights that it had. Whoever waits for long needs it.
 */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const { request, server, raw } = reply;
  const controller = new AbortController();
  request.waits = true;
  const checking = setInterval(() => {
    // Inner requests have no connection that is closed.
    if (raw.writableEnded) clearInterval(checking);
    else server.stillAdmitted(request).catch(() => controller.abort());
  }, CHECK_MS);
  raw.once('close', () => {
    clearInterval(checking);
    controller.abort();
  });
  return controller.signal;
}
