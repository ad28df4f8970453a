import type { FastifyReply } from 'fastify';

/** Aborted when the connection ends, by an answer or by a client that waits no longer. */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => controller.abort());
  return controller.signal;
}
