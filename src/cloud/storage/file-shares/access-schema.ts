import { type Static, Type } from 'typebox';
import { Uuid } from '../../../lib/resource-fields.ts';
import { listOf, listQuery } from '../../../lib/wire.ts';
import { AccessMode, accessFields, FileShareParams } from './schema.ts';

export const CreateAccessRule = Type.Object(accessFields, {
  title: 'CreateFileShareAccessRule',
  additionalProperties: false,
  examples: [{ ip_address: '10.0.0.0/24', access_mode: 'rw' }],
});
export type CreateAccessRule = Static<typeof CreateAccessRule>;

export const AccessRuleAnswer = Type.Object(
  {
    id: Uuid('Access rule ID'),
    access_to: Type.String({ description: 'IP address or CIDR', examples: ['10.0.0.0/24'] }),
    access_level: AccessMode,
    state: Type.Enum(['active', 'applying', 'denying', 'error', 'new', 'queued_to_apply', 'queued_to_deny'], {
      type: 'string',
      description: 'Always `active`: a rule takes effect immediately.',
    }),
  },
  { title: 'FileShareAccessRule' },
);
export type AccessRuleAnswer = Static<typeof AccessRuleAnswer>;
export const AccessRuleList = listOf(AccessRuleAnswer, 'FileShareAccessRuleList');
export const AccessRuleListQuery = Type.Object(listQuery(), { additionalProperties: false });

export const AccessRuleParams = Type.Object({
  ...FileShareParams.properties,
  access_rule_id: Type.String({ description: 'Access rule ID' }),
});
