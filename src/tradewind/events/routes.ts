import { goneSignal } from '../../http/gone-signal.ts';
import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { accepts, streamed } from '../../http/streamed.ts';
import { asLines, asServerSent, EventsAnswer, EventsHeaders, EventsQuery, type Told } from './schema.ts';
import type { Events } from './service.ts';

const STREAMS = {
  'text/event-stream': asServerSent,
  'application/x-ndjson': asLines,
};
type MediaType = keyof typeof STREAMS;

/** Returns the kind of stream that a header asks for, if it does. */
export function streamOf(accept: string | undefined): MediaType | undefined {
  return (Object.keys(STREAMS) as MediaType[]).find((type) => accepts(accept, type));
}

/** Returns what is told in the form of that media type. */
export async function* textsOf(type: MediaType, following: AsyncGenerator<Told>): AsyncGenerator<string> {
  for await (const told of following) yield STREAMS[type](told);
}

export function eventRoutes(app: Api, services: { events: Events }): void {
  const { events } = services;
  app.addHook('preClose', async () => events.stop());

  const api = operations(app, { tags: ['Events'] });

  api.get('/tradewind/v1/events', 'listEvents', 'Follow what happens', {
    description:
      'Every accepted change and every step of a task, as CloudEvents 1.0, in order for each subject. `Accept` chooses a list in JSON (with `wait` for the first), server-sent events or lines of JSON. The last 24 hours are kept.',
    query: EventsQuery,
    headers: EventsHeaders,
    answer: EventsAnswer,
    handler: async (request, reply) => {
      const { principal, query, headers, method } = request;
      const from = { cursor: headers['last-event-id'] ?? query.cursor, gone: goneSignal(reply) };
      const type = method === 'HEAD' ? undefined : streamOf(headers.accept);
      void reply.header('cache-control', 'no-store');
      if (!type) return events.list(principal, query, from);
      const following = await events.follow(principal, query, from);
      return streamed(reply, `${type}; charset=utf-8`, textsOf(type, following));
    },
  });
}
