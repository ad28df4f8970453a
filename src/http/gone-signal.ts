import type { FastifyReply } from 'fastify';

/**
 * Returns a signal that fires when the connection ends: after the answer, or when the client stops waiting.
 */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => controller.abort());
  return controller.signal;
}
