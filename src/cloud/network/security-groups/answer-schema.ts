import { type TSchema, Type } from 'typebox';
import { MetadataList } from '../../../lib/legacy-metadata.ts';
import { nullable } from '../../../lib/nullable.ts';
import { PlaceFields, TagAnswer, Uuid } from '../../../lib/resource-fields.ts';
import { listOf, OffsetTimestamp } from '../../../lib/wire.ts';
import { Direction, Ethertype, Port, Prefix, Protocol } from './rules/schema.ts';

type DialectName = 'specification' | 'client';

const revision = Type.Integer({ minimum: 0, description: 'Increases with every change.', examples: [0] });

/** Builds the answers of one dialect. `remote_group_id` differs, and titles, so that one document can hold both. */
function answers(titlePrefix: string, remoteGroupSchema: TSchema) {
  const remoteGroupId = Type.Unsafe<string[] | string | null>(remoteGroupSchema);
  const rule = Type.Object(
    {
      id: Uuid('Rule ID'),
      security_group_id: Uuid('Security group of the rule'),
      direction: Direction,
      ethertype: nullable(Ethertype('IP version')),
      protocol: Protocol('Protocol; null for all.'),
      port_range_min: Port('First port, or the ICMP type; null for all.'),
      port_range_max: Port('Last port, or the ICMP code; null for all.'),
      remote_ip_prefix: Prefix('Remote CIDR; null if the rule has none.'),
      remote_group_id: remoteGroupId,
      description: Type.String({ examples: ['HTTPS'] }),
      revision_number: revision,
      created_at: OffsetTimestamp(),
      updated_at: OffsetTimestamp(),
    },
    { title: `${titlePrefix}SecurityGroupRule` },
  );
  const group = Type.Object(
    {
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
      created_at: OffsetTimestamp(),
      updated_at: OffsetTimestamp(),
    },
    { title: `${titlePrefix}SecurityGroup` },
  );
  return { rule, group, list: listOf(group, `${titlePrefix}SecurityGroupList`) };
}

const answersByDialect = {
  specification: answers(
    '',
    Type.Array(Uuid('Security group ID'), {
      description: 'Remote security group; empty if the rule has none.',
    }),
  ),
  client: answers('Client', nullable(Uuid('Remote security group; null if the rule has none.'))),
};

export const securityGroupRuleSchema = (dialect: DialectName) => answersByDialect[dialect].rule;
export const securityGroupSchema = (dialect: DialectName) => answersByDialect[dialect].group;
export const securityGroupListSchema = (dialect: DialectName) => answersByDialect[dialect].list;
