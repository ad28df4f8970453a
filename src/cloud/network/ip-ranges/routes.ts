import { Type } from 'typebox';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { Named } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { listEgressRanges } from './service.ts';

const EgressRanges = Named('EgressRanges', {
  ranges: Type.Array(Type.String({ examples: ['198.18.16.0/20'] }), {
    description: 'CIDRs of IPv4, then of IPv6, each once',
  }),
});

export function ipRangeRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Networks'], access: 'public' });

  api.get(
    '/cloud/public/v1/ipranges/egress',
    'listEgressRanges',
    'List the address ranges of outgoing traffic',
    {
      description:
        'What is in the cloud reaches the outside from an address in one of these, whatever the region: they are the ranges of the external networks.',
      answer: EgressRanges,
      handler: async () => ({ ranges: await listEgressRanges(on) }),
    },
  );
}
