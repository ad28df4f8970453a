import { sql } from 'kysely';
import { Type } from 'typebox';
import type { Sql } from '../../../db/database.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { Named } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';

/** Returns the ranges of these networks, those of IPv4 first. Simulated networks of several regions may have the same. */
export async function rangesOf(db: Sql, networkIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ cidr: string }>`
    select distinct cidr from subnets where network_id = any(${networkIds}::uuid[]) order by cidr`.execute(db);
  return rows.map(({ cidr }) => cidr);
}

/** Returns the ranges of the external networks of all regions, each once. */
export const listEgressRanges = (on: Platform): Promise<string[]> =>
  rangesOf(
    on.database.sql,
    [...on.catalog.regions.values()].flatMap(({ external_network_id }) => external_network_id ?? []),
  );

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
