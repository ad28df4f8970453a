import type { Scope } from '../../../ground/projects/service.ts';
import type { Forest } from '../tree/parts.ts';
import type { PolicyAnswer, RuleAnswer } from './schema.ts';

const place = (scope: Scope) => ({
  project_id: scope.projectId,
  region: scope.region.display_name,
  region_id: scope.regionId,
});

export function presentedPolicy(row: Forest['policies'][number], forest: Forest, scope: Scope): PolicyAnswer {
  return {
    id: row.id,
    listener_id: row.listener_id,
    name: row.name,
    action: row.action,
    position: row.position,
    redirect_http_code: row.redirect_http_code,
    redirect_pool_id: row.redirect_pool_id,
    redirect_prefix: row.redirect_prefix,
    redirect_url: row.redirect_url,
    rules: (forest.rulesOf.get(row.id) ?? []).map(({ id }) => ({ id, ...place(scope) })),
    tags: row.tags,
    provisioning_status: row.provisioning_status,
    operating_status: forest.statuses.get(row.id) ?? 'OFFLINE',
    ...place(scope),
    task_id: row.task_id,
  };
}

export function presentedRule(row: Forest['rules'][number], forest: Forest, scope: Scope): RuleAnswer {
  return {
    id: row.id,
    type: row.type as RuleAnswer['type'],
    compare_type: row.compare_type as RuleAnswer['compare_type'],
    key: row.key,
    value: row.value,
    invert: row.invert,
    tags: row.tags,
    provisioning_status: row.provisioning_status,
    operating_status: forest.statuses.get(row.id) ?? 'OFFLINE',
    ...place(scope),
    task_id: row.task_id,
  };
}
