import { Type } from 'typebox';
import { nullable } from '../../../lib/nullable.ts';
import { UuidInput } from '../../../lib/resource-fields.ts';
import { PROTOCOL_NAMES } from './protocols.ts';

export const MAX_DESCRIPTION = 255;

export const Port = (description: string) =>
  nullable(Type.Integer({ minimum: 0, maximum: 65535, description, examples: [443] }));

export const Direction = Type.Enum(['egress', 'ingress'], {
  type: 'string',
  description: '`ingress`: traffic to the port. `egress`: traffic from it.',
  examples: ['ingress'],
});

export const Ethertype = (description: string) =>
  Type.Enum(['IPv4', 'IPv6'], { type: 'string', description, examples: ['IPv4'] });

export const Protocol = (description: string) =>
  nullable(Type.Enum(['any', ...PROTOCOL_NAMES], { type: 'string', description, examples: ['tcp'] }));

const ProtocolOrNull = (description: string) =>
  nullable(Type.Enum([...PROTOCOL_NAMES], { type: 'string', description, examples: ['tcp'] }));

export const Prefix = (description: string) =>
  nullable(Type.String({ maxLength: 64, description, examples: ['10.0.0.0/8'] }));

const ruleFields = {
  direction: Direction,
  port_range_min: Type.Optional(
    Port(
      'First port, of tcp, udp, sctp, dccp and udplite; both ends or neither, 1 to 65535 and no greater than the last. 1 to 65535 becomes null and null, all ports. For icmp and ipv6-icmp the ICMP type, 0 to 255.',
    ),
  ),
  port_range_max: Type.Optional(Port('Last port. For icmp and ipv6-icmp the ICMP code, 0 to 255.')),
  remote_ip_prefix: Type.Optional(
    Prefix(
      'Addresses of the other end, of the same IP version as `ethertype`. An address without a mask gets /32 or /128. Not together with `remote_group_id`; neither of them means everyone.',
    ),
  ),
  remote_group_id: Type.Optional(nullable(UuidInput('Security group of the other end.'))),
  description: Type.Optional(
    Type.String({ maxLength: MAX_DESCRIPTION, description: 'Empty when left out.', examples: ['HTTPS'] }),
  ),
};
const EthertypeInput = Ethertype('IP version. `IPv4` when left out.');
const PROTOCOL_RULE = 'In IPv6, `icmp` becomes `ipv6-icmp`. The `ipv6-*` ones need IPv6.';
export const ruleFieldsV1 = {
  ...ruleFields,
  ethertype: Type.Optional(EthertypeInput),
  protocol: Type.Optional(Protocol(`Protocol; null and \`any\` mean all. ${PROTOCOL_RULE}`)),
};

const newRule = (title: string) => ({
  title,
  description: 'What one kind of traffic has to look like to be let through.',
  additionalProperties: false,
});
const portRule = (port: number) => ({
  examples: [{ direction: 'ingress', protocol: 'tcp', port_range_min: port, port_range_max: port }],
});
const ruleFieldsV2 = {
  ...ruleFields,
  ethertype: Type.Optional(EthertypeInput),
  protocol: Type.Optional(ProtocolOrNull(`Protocol; null means all. ${PROTOCOL_RULE}`)),
};

export const ruleInput = Type.Object(ruleFieldsV1, newRule('CreateSecurityGroupRule'));
export const ruleInputV2 = Type.Object(ruleFieldsV2, newRule('NewSecurityGroupRule'));
// A rule that is the whole body has its own example.
export const securityGroupRuleInputSchema = Type.Object(ruleFieldsV1, {
  ...newRule('CreateSecurityGroupRule'),
  ...portRule(443),
});
export const securityGroupRuleInputV2Schema = Type.Object(ruleFieldsV2, {
  ...newRule('NewSecurityGroupRule'),
  ...portRule(8080),
});

export const replaceSecurityGroupRuleSchema = Type.Object(
  {
    ...ruleFieldsV1,
    ethertype: Type.Optional(nullable(EthertypeInput)),
    security_group_id: Type.Optional(UuidInput("The rule's group. A rule can't move to another.")),
  },
  {
    title: 'ReplaceSecurityGroupRule',
    description: 'The whole rule: what is left out gets its default.',
    additionalProperties: false,
    examples: [
      { direction: 'ingress', protocol: 'udp', port_range_min: 53, port_range_max: 53, description: 'DNS' },
    ],
  },
);
