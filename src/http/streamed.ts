import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { goneSignal } from './gone-signal.ts';

/** A reader that takes nothing for so long is cut off. */
const SLOW_MS = 45_000;

/**
 * Answers with texts as they come, as fast as the reader takes them. A reader that may not read any more is cut off: what it
 * has is not all, and must not look so.
 */
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
      .send(Readable.from(whileAdmitted(reply, texts), { objectMode: false }))
  );
}

async function* whileAdmitted(reply: FastifyReply, texts: AsyncIterable<string>): AsyncGenerator<string> {
  const gone = goneSignal(reply);
  for await (const text of texts) {
    if (gone.aborted) {
      reply.raw.destroy();
      return;
    }
    yield text;
  }
}
