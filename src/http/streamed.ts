import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/** A reader that takes nothing for so long is cut off. */
const SLOW_MS = 45_000;

/** Answers with texts as they come, as fast as the reader takes them. */
export function streamed(
  reply: FastifyReply,
  mediaType: string,
  texts: AsyncIterable<string>,
  slowMs = SLOW_MS,
): FastifyReply {
  reply.raw.setTimeout(slowMs, () => reply.raw.destroy());
  return (
    reply
      .type(`${mediaType}; charset=utf-8`)
      // A proxy must not collect what is meant to be read at once.
      .header('x-accel-buffering', 'no')
      // A server that stops waits for connections that may be used again.
      .header('connection', 'close')
      .send(Readable.from(texts, { objectMode: false }))
  );
}
