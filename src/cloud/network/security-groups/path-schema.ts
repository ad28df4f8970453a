import { Type } from 'typebox';
import { type Versioned, versionedIn } from '../../../lib/versioned.ts';
import { ProjectRegion } from '../../../lib/wire.ts';

export const GROUPS = '/cloud/v1/securitygroups/:project_id/:region_id';
export const GROUP_TAGS = ['Security groups'];
/** A rule is a part of it: it counts its changes itself. */
export const VERSIONED_GROUP: Versioned = {
  ...versionedIn('security_groups', 'group_id'),
  field: 'revision_number',
};

const groupId = { group_id: Type.String({ description: 'Security group ID' }) };
const ruleId = { rule_id: Type.String({ description: 'Rule ID' }) };

export const GroupParams = Type.Object({ ...ProjectRegion, ...groupId });
export const RuleParams = Type.Object({ ...ProjectRegion, ...ruleId });
export const GroupRuleParams = Type.Object({ ...ProjectRegion, ...groupId, ...ruleId });
