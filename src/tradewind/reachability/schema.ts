import { type Static, Type } from 'typebox';
import { Direction, Ethertype, Port, Prefix } from '../../cloud/network/security-groups/rules/schema.ts';
import { PROTOCOL_NAMES } from '../../lib/ip-addresses.ts';
import { Uuid } from '../../lib/resource-fields.ts';
import { Choice, Named, nullable, OptionalChoice, OptionalInteger, Query, TextOrNull } from '../../lib/wire.ts';

const End = (description: string, example: string) =>
  Type.String({ minLength: 2, maxLength: 45, description, examples: [example] });

export const ReachabilityQuery = Query({
  from: End('Who sends first: the ID of a port, or an IP address', '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a'),
  to: End('Who receives: the ID of a port, or an IP address', '203.0.113.7'),
  protocol: OptionalChoice(['any', ...PROTOCOL_NAMES], {
    description: 'A protocol as in rules. All by default',
    examples: ['tcp'],
  }),
  port: OptionalInteger({
    minimum: 1,
    maximum: 65_535,
    description: 'Where it listens, for protocols with ports. All ports by default',
    examples: [443],
  }),
});
export type ReachabilityQuery = Static<typeof ReachabilityQuery>;

const fields = {
  direction: Direction,
  ethertype: Ethertype('IP version'),
  protocol: TextOrNull({ description: 'Protocol; null for all', examples: ['tcp'] }),
  port_range_min: Port('First port; null for all'),
  port_range_max: Port('Last port'),
  remote_ip_prefix: Prefix('Remote CIDR; null for any address'),
};

const LettingRule = Named('ReachabilityRule', {
  id: Uuid('ID of the rule'),
  security_group_id: Uuid('Its security group'),
  ...fields,
  remote_group_id: nullable(Uuid('Whose ports are meant')),
});
export type LettingRule = Static<typeof LettingRule>;

const MissingRule = Named('ReachabilityMissingRule', fields);
export type MissingRule = Static<typeof MissingRule>;

const Side = Named('ReachabilitySide', {
  port_id: Uuid('The port'),
  allowed: Type.Boolean(),
  reason: Choice(['rule', 'no rule', 'port security is off']),
  rule: nullable(LettingRule),
  missing: nullable(MissingRule),
});
export type Side = Static<typeof Side>;

const Flow = Named('ReachabilityFlow', {
  ethertype: fields.ethertype,
  from_address: Type.String(),
  to_address: Type.String(),
  allowed: Type.Boolean({ description: 'Whether both sides let it pass' }),
  egress: nullable(Side),
  ingress: nullable(Side),
});
export type Flow = Static<typeof Flow>;

export const Reachability = Named('Reachability', {
  allowed: Type.Boolean({ description: 'Whether one of the flows is allowed, on a path that exists' }),
  path: nullable(
    Choice(['network', 'router', 'none'], {
      description:
        'How two ports are connected: by their network, by a router of both, or not. null with an address, whose path is not known',
    }),
  ),
  flows: Type.Array(Flow, { description: 'Each address of one end with those of its family of the other' }),
});
export type Reachability = Static<typeof Reachability>;
