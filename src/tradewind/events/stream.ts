import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { asLines, asServerSent, type Told } from './presenter.ts';

/** A reader that takes nothing for so long is cut off. It continues with the last cursor that it got. */
const SLOW_MS = 45_000;

const STREAMS = {
  'text/event-stream': asServerSent,
  'application/x-ndjson': asLines,
};
type MediaType = keyof typeof STREAMS;

/** Returns the kind of stream that a header asks for, if it does. */
export function streamOf(accept: string | undefined): MediaType | undefined {
  const wanted = accept?.toLowerCase() ?? '';
  return (Object.keys(STREAMS) as MediaType[]).find((type) => wanted.includes(type));
}

/** Answers with what is told, as fast as the reader takes it. */
export function stream(
  reply: FastifyReply,
  type: MediaType,
  following: AsyncGenerator<Told>,
  slowMs = SLOW_MS,
): FastifyReply {
  async function* texts() {
    for await (const told of following) yield STREAMS[type](told);
  }
  reply.raw.setTimeout(slowMs, () => reply.raw.destroy());
  return (
    reply
      .type(`${type}; charset=utf-8`)
      // A proxy must not collect what is meant to be read at once.
      .header('x-accel-buffering', 'no')
      // A server that stops waits for connections that may be used again.
      .header('connection', 'close')
      .send(Readable.from(texts(), { objectMode: false }))
  );
}
