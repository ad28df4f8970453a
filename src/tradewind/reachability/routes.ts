import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import { ReachabilityQuery, Reachability as ReachabilitySchema } from './schema.ts';
import { reachabilityBetween } from './service.ts';

export function reachabilityRoutes(app: Api, on: Platform): void {
  app.get('/tradewind/v1/reachability', {
    config: { access: 'read', refuses: [404] },
    schema: {
      operationId: 'getReachability',
      summary: 'Whether one port reaches another',
      description:
        'Whether the security groups let a connection pass, by which rule, or for want of which. Answers to an allowed connection always pass.',
      tags: ['Ports'],
      querystring: ReachabilityQuery,
      response: { 200: ReachabilitySchema },
    },
    handler: ({ principal, query }) => reachabilityBetween(on, principal, query),
  });
}
