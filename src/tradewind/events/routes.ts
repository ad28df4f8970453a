import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { goneSignal } from '../../http/gone-signal.ts';
import type { Api } from '../../http/server.ts';
import type { Authenticator } from '../../iam/identity/service.ts';
import { asLines, asServerSent, type Told } from './presenter.ts';
import { EventsAnswer, EventsHeaders, EventsQuery } from './schema.ts';
import type { Events } from './service.ts';

/** A reader that takes nothing for so long is cut off. It continues with the last cursor that it got. */
const SLOW_MS = 45_000;
/** How often a stream checks that its caller may still read it. */
const CHECK_MS = 15_000;

const STREAMS = {
  'text/event-stream': asServerSent,
  'application/x-ndjson': asLines,
};

export function eventRoutes(app: Api, services: { events: Events; authenticator: Authenticator }): void {
  const { events, authenticator } = services;
  app.addHook('preClose', async () => events.stop());

  app.get('/tradewind/v1/events', {
    config: { access: 'read', uncounted: true, refuses: [429] },
    schema: {
      operationId: 'listEvents',
      summary: 'Follow what happens',
      description:
        'Every accepted change and every step of a task, as CloudEvents 1.0, in order for each subject. `Accept` chooses a list in JSON (with `wait` for the first), server-sent events or lines of JSON. The last 24 hours are kept.',
      tags: ['Events'],
      querystring: EventsQuery,
      headers: EventsHeaders,
      response: { 200: EventsAnswer },
    },
    handler: async (request, reply) => {
      const { principal, query, headers, method } = request;
      const from = { cursor: headers['last-event-id'] ?? query.cursor, gone: goneSignal(reply) };
      const type = method === 'HEAD' ? undefined : streamOf(headers.accept);
      void reply.header('cache-control', 'no-store');
      if (!type) return events.list(principal, query, from);
      const following = await events.follow(principal, query, from);
      return stream(
        reply,
        type,
        checked(following, () => isStillAllowed(request)),
      );
    },
  });

  /** Whether the credentials of a request that began long ago still have the same rights. */
  async function isStillAllowed({ headers, principal }: FastifyRequest): Promise<boolean> {
    try {
      const now = await authenticator.authenticate(headers);
      return now.clientId === principal.clientId && now.roleId === principal.roleId;
    } catch {
      return false;
    }
  }
}

function streamOf(accept: string | undefined): keyof typeof STREAMS | undefined {
  const wanted = accept?.toLowerCase() ?? '';
  return (Object.keys(STREAMS) as (keyof typeof STREAMS)[]).find((type) => wanted.includes(type));
}

/** Ends when the caller may not read any more. */
async function* checked(following: AsyncGenerator<Told>, allowed: () => Promise<boolean>) {
  let checkedAt = performance.now();
  for await (const told of following) {
    if (performance.now() - checkedAt >= CHECK_MS) {
      if (!(await allowed())) return;
      checkedAt = performance.now();
    }
    yield told;
  }
}

function stream(
  reply: FastifyReply,
  type: keyof typeof STREAMS,
  following: AsyncGenerator<Told>,
): FastifyReply {
  async function* texts() {
    for await (const told of following) yield STREAMS[type](told);
  }
  reply.raw.setTimeout(SLOW_MS, () => reply.raw.destroy());
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
