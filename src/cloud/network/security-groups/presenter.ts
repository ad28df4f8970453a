import type { ProtocolName } from '../../../lib/ip-addresses.ts';
import { presentedTags } from '../../../lib/tags.ts';
import { offsetTimestamp } from '../../../lib/time.ts';
import type { Scope } from '../../ground/projects/service.ts';
import type { RuleRow } from './rules/store.ts';
import type { SecurityGroupRow } from './store.ts';

/** The only difference between the dialects here. */
interface RemoteGroupDialect {
  remoteGroup(id: string | null): string[] | string | null;
}

export function presentedGroup(row: SecurityGroupRow, scope: Scope, dialect: RemoteGroupDialect) {
  const tags = presentedTags(row.tags);
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    project_id: row.project_id,
    region: scope.region.display_name,
    region_id: row.region_id,
    revision_number: row.revision_number,
    tags_v2: tags,
    metadata: tags,
    created_at: offsetTimestamp(row.created_at),
    updated_at: offsetTimestamp(row.updated_at),
    security_group_rules: row.rules.map((rule) => presentedRule(rule, dialect)),
  };
}

export function presentedRule(rule: RuleRow, dialect: RemoteGroupDialect) {
  return {
    id: rule.id,
    security_group_id: rule.security_group_id,
    direction: rule.direction,
    ethertype: rule.ethertype,
    // The request schema only accepts names from the list, so stored ones are in it.
    protocol: rule.protocol as ProtocolName | null,
    port_range_min: rule.port_range_min,
    port_range_max: rule.port_range_max,
    remote_ip_prefix: rule.remote_ip_prefix,
    remote_group_id: dialect.remoteGroup(rule.remote_group_id),
    description: rule.description,
    revision_number: rule.revision_number,
    created_at: offsetTimestamp(rule.created_at),
    updated_at: offsetTimestamp(rule.updated_at),
  };
}
