import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import { ReachabilityQuery, Reachability as ReachabilitySchema } from './schema.ts';
import { reachabilityBetween } from './service.ts';

export function reachabilityRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Ports'] });

  api.get('/tradewind/v1/reachability', 'getReachability', 'Whether one port reaches another', {
    refuses: [404],
    description:
      'Whether the security groups let a connection pass, by which rule, or for want of which. Answers to an allowed connection always pass.',
    query: ReachabilityQuery,
    answer: ReachabilitySchema,
    handler: ({ principal, query }) => reachabilityBetween(on, principal, query),
  });
}
