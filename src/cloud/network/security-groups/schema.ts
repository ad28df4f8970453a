import { type Static, type TSchema, Type } from 'typebox';
import { MetadataList, newTags } from '../../../lib/legacy-metadata.ts';
import { PlaceFields, TagAnswer, Uuid, UuidInput } from '../../../lib/resource-fields.ts';
import { TagsPatchInput, tagQuery } from '../../../lib/tags.ts';
import { type Versioned, versioned } from '../../../lib/versioned.ts';
import * as wire from '../../../lib/wire.ts';
import * as rulesSchema from './rules/schema.ts';

export const GroupListQuery = wire.Query({
  ...wire.listQuery(10),
  name: wire.OptionalText({ maxLength: 255, description: 'Exact name' }),
  ...tagQuery,
});
export type GroupListQuery = Static<typeof GroupListQuery>;

export const MAX_RULES = 250;
export const MAX_CHANGES = 500;
/** Our own limit. None is published. */
export const MAX_INSTANCES = 1000;

export const createSecurityGroupSchema = wire.Input(
  'CreateSecurityGroup',
  {
    security_group: wire.Input('NewSecurityGroup', {
      name: wire.ResourceName('Name'),
      description: wire.OptionalText({
        maxLength: rulesSchema.MAX_DESCRIPTION,
        description: 'Defaults to empty.',
        examples: ['Front end'],
      }),
      security_group_rules: wire.OptionalList(rulesSchema.ruleInput, {
        maxItems: MAX_RULES,
        description:
          'Rules. If none of them is an egress rule, the group gets two rules that allow all outbound traffic, IPv4 and IPv6.',
      }),
      ...newTags,
    }),
    instances: wire.OptionalList(UuidInput('Instance ID'), {
      maxItems: MAX_INSTANCES,
      description: 'Instances to assign the group to immediately, on all of their ports.',
    }),
  },
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
);

export type CreateSecurityGroup = Static<typeof createSecurityGroupSchema>;

const ruleChanges = [
  wire.Input('AddedSecurityGroupRule', { action: Type.Literal('create'), ...rulesSchema.ruleFieldsV1 }),
  wire.Input('RemovedSecurityGroupRule', {
    action: Type.Literal('delete'),
    security_group_rule_id: UuidInput('Rule ID'),
  }),
] as const;

export const updateSecurityGroupSchema = wire.Input(
  'UpdateSecurityGroup',
  {
    name: Type.Optional(wire.ResourceName('Name')),
    changed_rules: wire.OptionalList(
      Type.Unsafe<Static<(typeof ruleChanges)[number]>>({
        type: 'object',
        title: 'SecurityGroupRuleChange',
        discriminator: { propertyName: 'action' },
        required: ['action'],
        oneOf: ruleChanges,
      }),
      {
        maxItems: MAX_CHANGES,
        description: "Rules to remove and to add, applied together. Other rules don't change.",
      },
    ),
    tags: Type.Optional(TagsPatchInput),
  },
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
);
export type UpdateSecurityGroup = Static<typeof updateSecurityGroupSchema>;

const Description = Type.String({
  maxLength: rulesSchema.MAX_DESCRIPTION,
  description: 'Text',
  examples: ['Front end'],
});
const RulesV2 = (description: string) => Type.Array(rulesSchema.ruleInputV2, { maxItems: MAX_RULES, description });

export const createSecurityGroupTaskSchema = wire.Input(
  'CreateSecurityGroupByTask',
  {
    name: wire.ResourceName('Name'),
    description: Type.Optional(Description),
    rules: Type.Optional(
      RulesV2('The exact rules. If omitted, the group gets four rules that allow all inbound and outbound traffic.'),
    ),
    ...newTags,
  },
  {
    name: 'web servers',
    description: 'Front end',
    rules: [
      { direction: 'ingress', protocol: 'tcp', port_range_min: 443, port_range_max: 443 },
      { direction: 'egress' },
    ],
    tags: { env: 'production' },
  },
);
export type CreateSecurityGroupTask = Static<typeof createSecurityGroupTaskSchema>;

export const updateSecurityGroupTaskSchema = wire.Input(
  'UpdateSecurityGroupByTask',
  {
    name: Type.Optional(wire.ResourceName('Name')),
    description: Type.Optional(Description),
    rules: Type.Optional(
      RulesV2('The complete set of rules. Existing rules keep their ID; rules missing here are removed.'),
    ),
    tags: Type.Optional(TagsPatchInput),
  },
  {
    description: 'Front end, HTTPS only',
    rules: [
      { direction: 'ingress', protocol: 'tcp', port_range_min: 443, port_range_max: 443 },
      { direction: 'egress' },
    ],
    tags: { env: 'staging', owner: null },
  },
);
export type UpdateSecurityGroupTask = Static<typeof updateSecurityGroupTaskSchema>;

export const copySecurityGroupSchema = wire.Input(
  'CopySecurityGroup',
  { name: wire.ResourceName('Name of the copy') },
  { name: 'web servers 2' },
);

/** All rules that a group would have. */
export const RulesOfGroup = wire.Input('SecurityGroupRulesDraft', {
  security_group_id: UuidInput('Security group'),
  rules: RulesV2('The complete set of rules'),
});
export type RulesOfGroup = Static<typeof RulesOfGroup>;

type DialectName = 'specification' | 'client';

const revision = Type.Integer({ minimum: 0, description: 'Increases with every change.', examples: [0] });

/** Builds the answers of one dialect. `remote_group_id` differs, and titles, so that one document can hold both. */
function answers(titlePrefix: string, remoteGroupSchema: TSchema) {
  const remoteGroupId = Type.Unsafe<string[] | string | null>(remoteGroupSchema);
  const rule = wire.Named(`${titlePrefix}SecurityGroupRule`, {
    id: Uuid('Rule ID'),
    security_group_id: Uuid('Security group of the rule'),
    direction: rulesSchema.Direction,
    ethertype: wire.nullable(rulesSchema.Ethertype('IP version')),
    protocol: rulesSchema.Protocol('Protocol; null for all.'),
    port_range_min: rulesSchema.Port('First port, or the ICMP type; null for all.'),
    port_range_max: rulesSchema.Port('Last port, or the ICMP code; null for all.'),
    remote_ip_prefix: rulesSchema.Prefix('Remote CIDR; null if the rule has none.'),
    remote_group_id: remoteGroupId,
    description: Type.String({ examples: ['HTTPS'] }),
    revision_number: revision,
    created_at: wire.OffsetTimestamp(),
    updated_at: wire.OffsetTimestamp(),
  });
  const group = wire.Named(`${titlePrefix}SecurityGroup`, {
    id: Uuid('Security group ID'),
    name: Type.String({ description: 'Name', examples: ['web servers'] }),
    description: Type.String({ description: 'Empty if there is none.', examples: ['Front end'] }),
    ...PlaceFields,
    revision_number: Type.Integer({
      minimum: 0,
      description: 'Increases with every change of the group or its rules.',
      examples: [1],
    }),
    tags_v2: Type.Array(TagAnswer, { description: 'Tags' }),
    ...MetadataList,
    security_group_rules: Type.Array(rule, { description: 'Rules in canonical form' }),
    created_at: wire.OffsetTimestamp(),
    updated_at: wire.OffsetTimestamp(),
  });
  return { rule, group, list: wire.listOf(group, `${titlePrefix}SecurityGroupList`) };
}

const answersByDialect = {
  specification: answers(
    '',
    Type.Array(Uuid('Security group ID'), {
      description: 'Remote security group; empty if the rule has none.',
    }),
  ),
  client: answers('Client', wire.nullable(Uuid('Remote security group; null if the rule has none.'))),
};

export const securityGroupRuleSchema = (dialect: DialectName) => answersByDialect[dialect].rule;
export const securityGroupSchema = (dialect: DialectName) => answersByDialect[dialect].group;
export const securityGroupListSchema = (dialect: DialectName) => answersByDialect[dialect].list;

export const GROUPS = '/cloud/v1/securitygroups/:project_id/:region_id';
export const GROUP_TAGS = ['Security groups'];
/** A rule is a part of it: it counts its changes itself. */
export const VERSIONED_GROUP: Versioned = {
  ...versioned('securitygroup'),
  field: 'revision_number',
};

const groupId = { group_id: Type.String({ description: 'Security group ID' }) };
const ruleId = { rule_id: Type.String({ description: 'Rule ID' }) };

export const GroupParams = Type.Object({ ...wire.ProjectRegion, ...groupId });
export const RuleParams = Type.Object({ ...wire.ProjectRegion, ...ruleId });
export const GroupRuleParams = Type.Object({ ...wire.ProjectRegion, ...groupId, ...ruleId });
