import { sql } from 'kysely';
import { Type } from 'typebox';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { Named } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';

/** Returns the ranges of the external networks of all regions, each once, those of IPv4 first. */
async function listEgressRanges({ catalog, database }: Platform): Promise<string[]> {
  const regionIds = [...catalog.regions.values()].flatMap((region) =>
    region.external_network_id === null ? [] : region.id,
  );
  const { rows } = await sql<{ cidr: string }>`
    select distinct cidr from subnets join networks on networks.id = network_id
    where external and region_id = any(${regionIds}::bigint[]) order by cidr`.execute(database.sql);
  return rows.map(({ cidr }) => cidr);
}

const EgressRanges = Named('EgressRanges', {
  ranges: Type.Array(Type.String({ examples: ['198.18.16.0/20'] }), {
    description: 'CIDRs of IPv4, then of IPv6, each once',
  }),
});

export function ipRangeRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Networks'], access: 'public' });

  api.get('/cloud/public/v1/ipranges/egress', 'listEgressRanges', 'List the address ranges of outgoing traffic', {
    description:
      'What is in the cloud reaches the outside from an address in one of these, whatever the region: they are the ranges of the external networks.',
    answer: EgressRanges,
    handler: async () => ({ ranges: await listEgressRanges(on) }),
  });
}
