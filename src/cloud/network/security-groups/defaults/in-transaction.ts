import { sql } from 'kysely';
import { make, type Wanted, type WantScope } from '../../../../convergence/wants.ts';
import type { Transaction } from '../../../../db/database.ts';
import { duplicateKey } from '../rules/rule.ts';
import { groupSpec } from '../wanted.ts';
import { defaultGroupRules } from './rules.ts';

/**
 * Adds the `default` group with its rules where it is missing, for each region and project (only of the given account,
 * if any). It counts against no quota. Can run at any time. Returns what is wanted.
 */
export async function ensureDefaultSecurityGroups(
  tx: Transaction,
  regions: readonly { id: number }[],
  clientId?: number,
): Promise<{ wanted: Wanted; scope: WantScope }[]> {
  const wanted = clientId === undefined ? sql`true` : sql`projects.client_id = ${clientId}`;
  const ids = regions.map((region) => region.id);
  const rules = defaultGroupRules().map((rule, position) => ({
    ...rule,
    position,
    duplicate_key: duplicateKey(rule),
  }));
  const { rows: made } = await sql<{
    scope: WantScope;
    id: string;
    group: Parameters<typeof groupSpec>[0];
  }>`
    with made as (
      insert into security_groups (id, project_id, region_id, name, description, is_default, tags, created_at, updated_at)
      select gen_random_uuid(), projects.id, region.id, 'default', 'Default security group', true, '{}', ${tx.now}, ${tx.now}
      from projects cross join unnest(${ids}::bigint[]) as region (id)
      where ${wanted} and not exists (
        select from security_groups as known
        where known.project_id = projects.id and known.region_id = region.id and known.is_default
      )
      on conflict do nothing
      returning *
    ), rule as (
      insert into security_group_rules (id, security_group_id, direction, ethertype, protocol, port_range_min,
        port_range_max, remote_ip_prefix, remote_group_id, description, duplicate_key, position, created_at, updated_at)
      select gen_random_uuid(), made.id, rule.direction, rule.ethertype, rule.protocol, rule.port_range_min,
        rule.port_range_max, rule.remote_ip_prefix, rule.remote_group_id, rule.description, rule.duplicate_key,
        rule.position, ${tx.now}, ${tx.now}
      from made cross join jsonb_to_recordset(${JSON.stringify(rules)}::jsonb) as rule (direction text, ethertype text,
        protocol text, port_range_min integer, port_range_max integer, remote_ip_prefix text, remote_group_id uuid,
        description text, duplicate_key text, position integer)
      returning *
    )
    select made.id,
      json_build_object('name', made.name, 'description', made.description, 'rules', json_agg(rule)) as group,
      json_build_object('clientId', client_id, 'projectId', project_id, 'regionId', region_id) as scope
    from made join rule on security_group_id = made.id join projects on projects.id = project_id
    group by made.id, made.name, made.description, client_id, project_id, region_id`.execute(tx.sql);
  return made.map(({ id, group, scope }) => ({
    scope,
    wanted: make('security_group', id, groupSpec(group)),
  }));
}

/** Deletes the groups of a project that is being deleted. */
export async function removeGroupsOf(tx: Transaction, projectId: number): Promise<void> {
  const groups = tx.sql.selectFrom('security_groups').select('id').where('project_id', '=', projectId);
  await tx.sql.deleteFrom('security_group_rules').where('security_group_id', 'in', groups).execute();
  await tx.sql.deleteFrom('security_groups').where('project_id', '=', projectId).execute();
}
