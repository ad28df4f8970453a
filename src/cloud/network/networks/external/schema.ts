import { type Static, Type } from 'typebox';
import { IntegerOrNull, Named, OptionalInteger, Query } from '../../../../lib/wire.ts';

export const ExternalAddressesQuery = Query({
  region_id: OptionalInteger({ minimum: 1, maximum: 2_147_483_647, description: 'Only those of this region' }),
});
export type ExternalAddressesQuery = Static<typeof ExternalAddressesQuery>;

const ExternalPrefix = Named('ExternalPrefix', {
  region_id: Type.Integer({ description: 'Region ID', examples: [1] }),
  network_id: Type.String({ description: 'External network' }),
  network_name: Type.String({ description: 'Its name', examples: ['external'] }),
  subnet_id: Type.String({ description: 'The subnet that the prefix is' }),
  cidr: Type.String({ description: 'The prefix', examples: ['198.18.16.0/20'] }),
  ip_version: Type.Integer({ description: '4 or 6', examples: [4] }),
  total: IntegerOrNull({ description: 'All addresses of the prefix; null for more than 2^53', examples: [4096] }),
  in_use: Type.Integer({ description: 'Those given out, as to ports, floating IPs and routers', examples: [12] }),
  free: IntegerOrNull({ description: 'Those that can be given out; null for more than 2^53', examples: [4081] }),
  kept: IntegerOrNull({
    description:
      "The rest: those of the network and of its gateway, what the catalogue leaves out, and what the region's backend keeps for itself; null for more than 2^53",
    examples: [3],
  }),
});
export type ExternalPrefix = Static<typeof ExternalPrefix>;

export const ExternalAddresses = Named('ExternalAddresses', {
  results: Type.Array(ExternalPrefix, { description: 'Prefix by prefix, those of a network together' }),
});
