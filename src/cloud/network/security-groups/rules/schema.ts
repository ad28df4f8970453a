import { Type } from 'typebox';
import { PROTOCOL_NAMES } from '../../../../lib/ip-addresses.ts';
import { LEGACY } from '../../../../lib/legacy.ts';
import { UuidInput } from '../../../../lib/resource-fields.ts';
import { Choice, IntegerOrNull, nullable, OptionalText, TextOrNull } from '../../../../lib/wire.ts';

export const MAX_DESCRIPTION = 255;

export const Port = (description: string) =>
  IntegerOrNull({ minimum: 0, maximum: 65535, description, examples: [443] });

export const Direction = Choice(['egress', 'ingress'], {
  description: '`ingress`: inbound traffic. `egress`: outbound traffic.',
  examples: ['ingress'],
});

export const Ethertype = (description: string) => Choice(['IPv4', 'IPv6'], { description, examples: ['IPv4'] });

export const Protocol = (description: string) =>
  nullable(Choice(['any', ...PROTOCOL_NAMES], { description, examples: ['tcp'] }));

const ProtocolOrNull = (description: string) => nullable(Choice(PROTOCOL_NAMES, { description, examples: ['tcp'] }));

export const Prefix = (description: string) => TextOrNull({ maxLength: 64, description, examples: ['10.0.0.0/8'] });

const ruleFields = {
  direction: Direction,
  port_range_min: Type.Optional(
    Port(
      'First port, for tcp, udp, sctp, dccp and udplite. Send both ports or neither, from 1 to 65535, the first not greater than the last. 1 to 65535 is stored as null and null, all ports. For icmp and ipv6-icmp, the ICMP type, 0 to 255.',
    ),
  ),
  port_range_max: Type.Optional(Port('Last port. For icmp and ipv6-icmp, the ICMP code, 0 to 255.')),
  remote_ip_prefix: Type.Optional(
    Prefix(
      "Remote CIDR, of the same IP version as `ethertype`. An address without a prefix length gets /32 or /128. Can't be combined with `remote_group_id`; without both, the rule applies to any address.",
    ),
  ),
  remote_group_id: Type.Optional(nullable(UuidInput('Remote security group.'))),
  description: OptionalText({ maxLength: MAX_DESCRIPTION, description: 'Defaults to empty.', examples: ['HTTPS'] }),
};
const EthertypeInput = Ethertype('IP version; defaults to `IPv4`.');
const PROTOCOL_RULE = 'In IPv6, `icmp` becomes `ipv6-icmp`. The `ipv6-*` protocols require IPv6.';
export const ruleFieldsV1 = {
  ...ruleFields,
  ethertype: Type.Optional(EthertypeInput),
  protocol: Type.Optional(Protocol(`Protocol; null and \`any\` allow all. ${PROTOCOL_RULE}`)),
};

const newRule = (title: string) => ({
  title,
  description: 'Traffic to allow.',
  additionalProperties: false,
});
const portRule = (port: number) => ({
  examples: [{ direction: 'ingress', protocol: 'tcp', port_range_min: port, port_range_max: port }],
});
const ruleFieldsV2 = {
  ...ruleFields,
  ethertype: Type.Optional(EthertypeInput),
  protocol: Type.Optional(ProtocolOrNull(`Protocol; null allows all. ${PROTOCOL_RULE}`)),
};

const OwnGroup = UuidInput("Security group of the rule. A rule can't be moved to another group.");
/** The older Terraform provider names the group of a new rule in the body as well. */
export const legacyOwnGroup = {
  security_group_id: Type.Optional({ ...OwnGroup, ...LEGACY, description: 'Must be the group of the path' }),
};

export const ruleInput = Type.Object(ruleFieldsV1, newRule('CreateSecurityGroupRule'));
export const ruleInputV2 = Type.Object(ruleFieldsV2, newRule('NewSecurityGroupRule'));
// A rule that is the whole body has its own example.
export const securityGroupRuleInputSchema = Type.Object(
  { ...ruleFieldsV1, ...legacyOwnGroup },
  { ...newRule('AddSecurityGroupRule'), ...portRule(443) },
);
export const securityGroupRuleInputV2Schema = Type.Object(ruleFieldsV2, {
  ...newRule('NewSecurityGroupRule'),
  ...portRule(8080),
});

export const replaceSecurityGroupRuleSchema = Type.Object(
  {
    ...ruleFieldsV1,
    ethertype: Type.Optional(nullable(EthertypeInput)),
    security_group_id: Type.Optional(OwnGroup),
  },
  {
    title: 'ReplaceSecurityGroupRule',
    description: 'The complete rule. Omitted fields are reset to their defaults.',
    additionalProperties: false,
    examples: [{ direction: 'ingress', protocol: 'udp', port_range_min: 53, port_range_max: 53, description: 'DNS' }],
  },
);
