import { type Static, type TSchema, Type } from 'typebox';
import { nullable } from '../../lib/nullable.ts';
import { PlaceFields, TagAnswer, Uuid, UuidInput } from '../../lib/resource-fields.ts';
import { TagsInput } from '../../lib/tags-input.ts';
import { TagsPatchInput } from '../../lib/tags-patch.ts';
import { listOf, ResourceName, Timestamp } from '../../lib/wire.ts';
import { PROTOCOL_NAMES } from './protocols.ts';

export const MAX_RULES = 250;
export const MAX_CHANGES = 500;
export const MAX_DESCRIPTION = 255;
/** Our own limit; nothing published names one. */
export const MAX_INSTANCES = 1000;

const Port = (description: string) =>
  nullable(Type.Integer({ minimum: 0, maximum: 65535, description, examples: [443] }));

const Direction = Type.Enum(['egress', 'ingress'], {
  type: 'string',
  description: '`ingress`: traffic to the port. `egress`: traffic from it.',
  examples: ['ingress'],
});

const Ethertype = (description: string) =>
  Type.Enum(['IPv4', 'IPv6'], { type: 'string', description, examples: ['IPv4'] });

const Protocol = (description: string) =>
  nullable(Type.Enum(['any', ...PROTOCOL_NAMES], { type: 'string', description, examples: ['tcp'] }));

const ProtocolOrNull = (description: string) =>
  nullable(Type.Enum([...PROTOCOL_NAMES], { type: 'string', description, examples: ['tcp'] }));

const Prefix = (description: string) =>
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
const ruleFieldsV1 = {
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

const ruleInput = Type.Object(ruleFieldsV1, newRule('CreateSecurityGroupRule'));
const ruleInputV2 = Type.Object(ruleFieldsV2, newRule('NewSecurityGroupRule'));
// As a whole body a rule has an example of its own.
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

export const createSecurityGroupSchema = Type.Object(
  {
    security_group: Type.Object(
      {
        name: ResourceName('Name'),
        description: Type.Optional(
          Type.String({
            maxLength: MAX_DESCRIPTION,
            description: 'Empty when left out.',
            examples: ['Front end'],
          }),
        ),
        security_group_rules: Type.Optional(
          Type.Array(ruleInput, {
            maxItems: MAX_RULES,
            description:
              'Rules. If none of them is an egress rule, the group gets two that let everything out, IPv4 and IPv6.',
          }),
        ),
        tags: Type.Optional(TagsInput),
      },
      { title: 'NewSecurityGroup', additionalProperties: false },
    ),
    instances: Type.Optional(
      Type.Array(UuidInput('Instance ID'), {
        maxItems: MAX_INSTANCES,
        description: 'Instances whose ports, all of them, get the group at once.',
      }),
    ),
  },
  {
    title: 'CreateSecurityGroup',
    additionalProperties: false,
    examples: [
      {
        security_group: {
          name: 'web servers',
          description: 'Front end',
          security_group_rules: [
            { direction: 'ingress', protocol: 'tcp', port_range_min: 443, port_range_max: 443 },
            { direction: 'ingress', ethertype: 'IPv6', protocol: 'icmp' },
          ],
          tags: { env: 'production' },
        },
        instances: [],
      },
    ],
  },
);

export type CreateSecurityGroup = Static<typeof createSecurityGroupSchema>;

const ruleChanges = [
  Type.Object(
    { action: Type.Literal('create'), ...ruleFieldsV1 },
    { title: 'AddedSecurityGroupRule', additionalProperties: false },
  ),
  Type.Object(
    { action: Type.Literal('delete'), security_group_rule_id: UuidInput('Rule ID') },
    { title: 'RemovedSecurityGroupRule', additionalProperties: false },
  ),
] as const;

export const updateSecurityGroupSchema = Type.Object(
  {
    name: Type.Optional(ResourceName('Name')),
    changed_rules: Type.Optional(
      Type.Array(
        Type.Unsafe<Static<(typeof ruleChanges)[number]>>({
          type: 'object',
          title: 'SecurityGroupRuleChange',
          discriminator: { propertyName: 'action' },
          required: ['action'],
          oneOf: ruleChanges,
        }),
        {
          maxItems: MAX_CHANGES,
          description: 'Rules to remove and to add, all at once. Those that are not named stay.',
        },
      ),
    ),
    tags: Type.Optional(TagsPatchInput),
  },
  {
    title: 'UpdateSecurityGroup',
    additionalProperties: false,
    examples: [
      {
        changed_rules: [
          {
            action: 'create',
            direction: 'ingress',
            protocol: 'tcp',
            port_range_min: 22,
            port_range_max: 22,
            remote_ip_prefix: '10.0.0.0/8',
          },
        ],
        tags: { env: 'staging', owner: null },
      },
    ],
  },
);
export type UpdateSecurityGroup = Static<typeof updateSecurityGroupSchema>;

const Description = Type.String({ maxLength: MAX_DESCRIPTION, description: 'Text', examples: ['Front end'] });
const RulesV2 = (description: string) => Type.Array(ruleInputV2, { maxItems: MAX_RULES, description });

export const createSecurityGroupTaskSchema = Type.Object(
  {
    name: ResourceName('Name'),
    description: Type.Optional(Description),
    rules: Type.Optional(
      RulesV2('Rules, exactly these. When left out, four that let everything in and out.'),
    ),
    tags: Type.Optional(TagsInput),
  },
  {
    title: 'CreateSecurityGroupByTask',
    additionalProperties: false,
    examples: [
      {
        name: 'web servers',
        description: 'Front end',
        rules: [
          { direction: 'ingress', protocol: 'tcp', port_range_min: 443, port_range_max: 443 },
          { direction: 'egress' },
        ],
        tags: { env: 'production' },
      },
    ],
  },
);
export type CreateSecurityGroupTask = Static<typeof createSecurityGroupTaskSchema>;

export const updateSecurityGroupTaskSchema = Type.Object(
  {
    name: Type.Optional(ResourceName('Name')),
    description: Type.Optional(Description),
    rules: Type.Optional(
      RulesV2(
        'The whole wanted set. A rule that is there already keeps its ID, one that is missing here is removed.',
      ),
    ),
    tags: Type.Optional(TagsPatchInput),
  },
  {
    title: 'UpdateSecurityGroupByTask',
    additionalProperties: false,
    examples: [
      {
        description: 'Front end, HTTPS only',
        rules: [
          { direction: 'ingress', protocol: 'tcp', port_range_min: 443, port_range_max: 443 },
          { direction: 'egress' },
        ],
        tags: { env: 'staging', owner: null },
      },
    ],
  },
);
export type UpdateSecurityGroupTask = Static<typeof updateSecurityGroupTaskSchema>;

export const copySecurityGroupSchema = Type.Object(
  { name: ResourceName('Name of the copy') },
  { title: 'CopySecurityGroup', additionalProperties: false, examples: [{ name: 'web servers 2' }] },
);

type DialectName = 'specification' | 'client';

const revision = Type.Integer({ minimum: 0, description: 'Rises with every change.', examples: [0] });

/** The answers of one dialect. They differ in `remote_group_id`; titles differ so that one document can hold both. */
function answers(titlePrefix: string, remoteGroupSchema: TSchema) {
  const remoteGroupId = Type.Unsafe<string[] | string | null>(remoteGroupSchema);
  const rule = Type.Object(
    {
      id: Uuid('Rule ID'),
      security_group_id: Uuid('Group of the rule'),
      direction: Direction,
      ethertype: nullable(Ethertype('IP version')),
      protocol: Protocol('Protocol; null means all.'),
      port_range_min: Port('First port, or the ICMP type; null means all.'),
      port_range_max: Port('Last port, or the ICMP code; null means all.'),
      remote_ip_prefix: Prefix('Addresses of the other end; null when the rule names none.'),
      remote_group_id: remoteGroupId,
      description: Type.String({ examples: ['HTTPS'] }),
      revision_number: revision,
      created_at: Timestamp('Such as 2019-06-18T11:56:16+0000'),
      updated_at: Timestamp('Such as 2019-06-18T11:56:16+0000'),
    },
    { title: `${titlePrefix}SecurityGroupRule` },
  );
  const group = Type.Object(
    {
      id: Uuid('Security group ID'),
      name: Type.String({ description: 'Name', examples: ['web servers'] }),
      description: Type.String({ description: 'Empty when there is none.', examples: ['Front end'] }),
      ...PlaceFields,
      revision_number: Type.Integer({
        minimum: 0,
        description: 'Rises with every change of the group or of its rules.',
        examples: [1],
      }),
      tags_v2: Type.Array(TagAnswer, { description: 'Tags' }),
      security_group_rules: Type.Array(rule, { description: 'Rules, in canonical form' }),
      created_at: Timestamp('Such as 2019-06-18T11:56:16+0000'),
      updated_at: Timestamp('Such as 2019-06-18T11:56:16+0000'),
    },
    { title: `${titlePrefix}SecurityGroup` },
  );
  return { rule, group, list: listOf(group, `${titlePrefix}SecurityGroupList`) };
}

const answersByDialect = {
  specification: answers(
    '',
    Type.Array(Uuid('Security group ID'), {
      description: 'Security group of the other end; empty when the rule names none.',
    }),
  ),
  client: answers(
    'Client',
    nullable(Uuid('Security group of the other end; null when the rule names none.')),
  ),
};

export const securityGroupRuleSchema = (dialect: DialectName) => answersByDialect[dialect].rule;
export const securityGroupSchema = (dialect: DialectName) => answersByDialect[dialect].group;
export const securityGroupListSchema = (dialect: DialectName) => answersByDialect[dialect].list;
