import type { FastifyRequest } from 'fastify';
import { goneSignal } from '../../http/gone-signal.ts';
import type { Api } from '../../http/server.ts';
import { streamed } from '../../http/streamed.ts';
import type { Authenticator } from '../../iam/identity/service.ts';
import { hasSameRights } from '../../requests/principal.ts';
import type { Told } from './presenter.ts';
import { EventsAnswer, EventsHeaders, EventsQuery } from './schema.ts';
import type { Events } from './service.ts';
import { streamOf, textsOf } from './stream.ts';

/** How long a check that the caller may still read a stream holds. */
const CHECK_MS = 1_000;

export function eventRoutes(app: Api, services: { events: Events; authenticator: Authenticator }): void {
  const { events, authenticator } = services;
  app.addHook('preClose', async () => events.stop());

  app.get('/tradewind/v1/events', {
    config: { access: 'read' },
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
      const allowed = checked(following, () => isStillAllowed(request));
      return streamed(reply, type, textsOf(type, allowed));
    },
  });

  /** Whether the credentials of a request that began long ago still have the same rights. */
  async function isStillAllowed({ headers, principal }: FastifyRequest): Promise<boolean> {
    try {
      return hasSameRights(await authenticator.authenticate(headers), principal);
    } catch {
      return false;
    }
  }
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
