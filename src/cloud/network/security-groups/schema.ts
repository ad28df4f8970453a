import { type Static, Type } from 'typebox';
import { newTags } from '../../../lib/legacy-metadata.ts';
import { UuidInput } from '../../../lib/resource-fields.ts';
import { tagQuery } from '../../../lib/tag-query.ts';
import { TagsPatchInput } from '../../../lib/tags-patch.ts';
import { listQuery, ResourceName } from '../../../lib/wire.ts';
import { MAX_DESCRIPTION, ruleFieldsV1, ruleInput, ruleInputV2 } from './rules/schema.ts';

export const GroupListQuery = Type.Object(
  {
    ...listQuery(10),
    name: Type.Optional(Type.String({ maxLength: 255, description: 'Exact name' })),
    ...tagQuery,
  },
  { additionalProperties: false },
);
export type GroupListQuery = Static<typeof GroupListQuery>;

export const MAX_RULES = 250;
export const MAX_CHANGES = 500;
/** Our own limit. None is published. */
export const MAX_INSTANCES = 1000;

export const createSecurityGroupSchema = Type.Object(
  {
    security_group: Type.Object(
      {
        name: ResourceName('Name'),
        description: Type.Optional(
          Type.String({
            maxLength: MAX_DESCRIPTION,
            description: 'Defaults to empty.',
            examples: ['Front end'],
          }),
        ),
        security_group_rules: Type.Optional(
          Type.Array(ruleInput, {
            maxItems: MAX_RULES,
            description:
              'Rules. If none of them is an egress rule, the group gets two rules that allow all outbound traffic, IPv4 and IPv6.',
          }),
        ),
        ...newTags,
      },
      { title: 'NewSecurityGroup', additionalProperties: false },
    ),
    instances: Type.Optional(
      Type.Array(UuidInput('Instance ID'), {
        maxItems: MAX_INSTANCES,
        description: 'Instances to assign the group to immediately, on all of their ports.',
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
          description: "Rules to remove and to add, applied together. Other rules don't change.",
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
      RulesV2(
        'The exact rules. If omitted, the group gets four rules that allow all inbound and outbound traffic.',
      ),
    ),
    ...newTags,
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
      RulesV2('The complete set of rules. Existing rules keep their ID; rules missing here are removed.'),
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
