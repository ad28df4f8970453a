import { type Static, Type } from 'typebox';
import { Direction, Ethertype, Port, Prefix } from '../../cloud/network/security-groups/rules/schema.ts';
import { RulesOfGroup } from '../../cloud/network/security-groups/schema.ts';
import { PROTOCOL_NAMES } from '../../lib/ip-addresses.ts';
import { Uuid } from '../../lib/resource-fields.ts';
import {
  Choice,
  Input,
  Named,
  nullable,
  OptionalChoice,
  OptionalInteger,
  OptionalList,
  Query,
  TextOrNull,
} from '../../lib/wire.ts';

/** An end that stands for all addresses that nobody names. */
export const INTERNET = 'internet';
const ENDS = `the ID of a port, an IP address, or \`${INTERNET}\`, any address that no rule names`;

const End = (who: string, example: string) =>
  Type.String({ minLength: 2, maxLength: 45, description: `${who}: ${ENDS}`, examples: [example] });

const traffic = {
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
};

export const ReachabilityQuery = Query({
  from: End('Who sends first', '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a'),
  to: End('Who receives', '203.0.113.7'),
  ...traffic,
});
export type ReachabilityQuery = Static<typeof ReachabilityQuery>;

/** Every pair of them is worked out in one request. */
const MAX_ENDS = 32;
const MAX_DRAFTS = 4;
const Ends = (who: string, example: string) =>
  Type.Array(Type.String({ minLength: 2, maxLength: 45 }), {
    minItems: 1,
    maxItems: MAX_ENDS,
    description: `${who}. Each is ${ENDS}`,
    examples: [[example]],
  });

export const ReachabilityQuestion = Input(
  'ReachabilityQuestion',
  {
    from: Ends('Who sends first', INTERNET),
    to: Ends('Who receives', '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a'),
    ...traffic,
    drafts: OptionalList(RulesOfGroup, {
      minItems: 1,
      maxItems: MAX_DRAFTS,
      description: 'Rules that security groups would have. They are checked as a change of the group, and not stored',
    }),
  },
  {
    from: [INTERNET],
    to: ['4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a'],
    protocol: 'tcp',
    port: 443,
    drafts: [
      {
        security_group_id: '0b6f2a0e-5b1c-4c3a-9f6e-7d8c9a0b1c2d',
        rules: [{ direction: 'ingress', protocol: 'tcp', port_range_min: 443, port_range_max: 443 }],
      },
    ],
  },
);
export type ReachabilityQuestion = Static<typeof ReachabilityQuestion>;

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
  from_address: Type.String({ description: `IP address, or \`${INTERNET}\`` }),
  to_address: Type.String({ description: `IP address, or \`${INTERNET}\`` }),
  allowed: Type.Boolean({ description: 'Whether both sides let it pass' }),
  egress: nullable(Side),
  ingress: nullable(Side),
});
export type Flow = Static<typeof Flow>;

const Path = nullable(
  Choice(['network', 'router', 'none'], {
    description:
      'How two ports are connected: by their network, by a router of both, or not. null with an address or the internet, whose path is not known',
  }),
);

export const Reachability = Named('Reachability', {
  allowed: Type.Boolean({ description: 'Whether one of the flows is allowed, on a path that exists' }),
  path: Path,
  flows: Type.Array(Flow, { description: 'Each address of one end with those of its family of the other' }),
});
export type Reachability = Static<typeof Reachability>;

const verdicts = {
  allowed: Type.Boolean({ description: 'By the rules as they are stored' }),
  drafted: nullable(Type.Boolean({ description: 'By the drafts; null without drafts' })),
};

const Version = Named('ReachabilityVersion', { ethertype: fields.ethertype, ...verdicts });

const Pair = Named('ReachabilityPair', {
  from: Type.String({ description: 'Who sends first, as it was sent' }),
  to: Type.String({ description: 'Who receives, as it was sent' }),
  path: Path,
  ...verdicts,
  ip_versions: Type.Array(Version, {
    description: 'The same for each IP version of which both have addresses: one of them is enough for the pair',
  }),
});

export const ReachabilityPairs = Named('ReachabilityPairs', {
  pairs: Type.Array(Pair, {
    description:
      'All of `from` with all of `to`, but for an end with itself, and for two ends that are no ports. An end that is named twice counts once',
  }),
});
export type ReachabilityPairs = Static<typeof ReachabilityPairs>;
