import { type Kysely, type Selectable, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { Transaction } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import type { CanonicalRule } from './rules.ts';

export type RuleRow = Selectable<Tables['security_group_rules']>;
export type SecurityGroupRow = Selectable<Tables['security_groups']> & { rules: RuleRow[] };

export interface GroupFilter {
  name?: string | undefined;
  /** Every key must be present. */
  tagKeys: string[];
  /** Every pair must match. */
  tags: Record<string, string>;
  limit: number;
  offset: number;
}

export interface Place {
  projectId: number;
  regionId: number;
}

/** Groups with their rules, in one query. */
function groups(db: Kysely<Tables>, { projectId, regionId }: Place) {
  return db
    .selectFrom('security_groups')
    .selectAll()
    .select((group) =>
      jsonArrayFrom(
        group
          .selectFrom('security_group_rules as rule')
          .selectAll()
          .whereRef('rule.security_group_id', '=', 'security_groups.id')
          .orderBy('rule.created_at')
          .orderBy('rule.position'),
      ).as('rules'),
    )
    .where('project_id', '=', projectId)
    .where('region_id', '=', regionId);
}

export async function findGroup(
  db: Kysely<Tables>,
  place: Place,
  id: string,
): Promise<SecurityGroupRow | undefined> {
  const row = await groups(db, place).where('id', '=', id).executeTakeFirst();
  return row && withDates(row);
}

export async function listGroups(
  db: Kysely<Tables>,
  place: Place,
  filter: GroupFilter,
): Promise<{ count: number; rows: SecurityGroupRow[] }> {
  let matching = groups(db, place);
  if (filter.name !== undefined) matching = matching.where('name', '=', filter.name);
  if (filter.tagKeys.length > 0) matching = matching.where(sql<boolean>`tags ?& ${filter.tagKeys}::text[]`);
  if (Object.keys(filter.tags).length > 0) {
    matching = matching.where(sql<boolean>`tags @> ${JSON.stringify(filter.tags)}::jsonb`);
  }
  const rows = await matching
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(filter.limit)
    .offset(filter.offset)
    .execute();
  const { count } = await matching
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return { count, rows: rows.map(withDates) };
}

/** JSON carries times as text. */
type WithRuleTexts = Omit<SecurityGroupRow, 'rules'> & {
  rules: (Omit<RuleRow, 'created_at' | 'updated_at'> & { created_at: string; updated_at: string })[];
};

function withDates(row: WithRuleTexts): SecurityGroupRow {
  const rules = row.rules.map((rule) => ({
    ...rule,
    created_at: new Date(rule.created_at),
    updated_at: new Date(rule.updated_at),
  }));
  return { ...row, rules };
}

export async function insertGroup(
  tx: Transaction,
  group: {
    id: string;
    place: Place;
    name: string;
    description: string;
    tags: Record<string, string>;
    isDefault: boolean;
    now: Date;
  },
): Promise<Selectable<Tables['security_groups']>> {
  return tx.sql
    .insertInto('security_groups')
    .values({
      id: group.id,
      project_id: group.place.projectId,
      region_id: group.place.regionId,
      name: group.name,
      description: group.description,
      is_default: group.isDefault,
      tags: JSON.stringify(group.tags),
      created_at: group.now,
      updated_at: group.now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export interface NewRule extends CanonicalRule {
  id: string;
  duplicateKey: string;
}

export async function insertRules(
  tx: Transaction,
  groupId: string,
  rules: NewRule[],
  now: Date,
): Promise<RuleRow[]> {
  if (rules.length === 0) return [];
  return tx.sql
    .insertInto('security_group_rules')
    .values(
      rules.map(({ duplicateKey, ...rule }, position) => ({
        ...rule,
        security_group_id: groupId,
        duplicate_key: duplicateKey,
        position,
        created_at: now,
        updated_at: now,
      })),
    )
    .returningAll()
    .execute();
}

/** Which of these groups exist in the project and region. */
export async function existingGroups(db: Kysely<Tables>, place: Place, ids: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('security_groups')
    .select('id')
    .where('id', 'in', ids)
    .where('project_id', '=', place.projectId)
    .where('region_id', '=', place.regionId)
    .execute();
  return new Set(rows.map((row) => row.id));
}

export async function putOnPorts(tx: Transaction, groupId: string, portIds: string[]): Promise<void> {
  if (portIds.length === 0) return;
  await tx.sql
    .insertInto('port_security_groups')
    .values(portIds.map((portId) => ({ port_id: portId, security_group_id: groupId })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Up to `limit` ports that the group is on. */
export async function portsOfGroup(db: Kysely<Tables>, groupId: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('port_security_groups')
    .select('port_id')
    .where('security_group_id', '=', groupId)
    .limit(limit)
    .execute();
  return rows.map((row) => row.port_id);
}

/** Up to `limit` other groups with a rule that names this one as its remote end. */
export async function groupsReferringTo(
  db: Kysely<Tables>,
  groupId: string,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('security_group_rules')
    .select('security_group_id')
    .distinct()
    .where('remote_group_id', '=', groupId)
    .where('security_group_id', '!=', groupId)
    .limit(limit)
    .execute();
  return rows.map((row) => row.security_group_id);
}

/** Locks the group against a concurrent change until the transaction ends. */
export async function lockGroup(tx: Transaction, place: Place, id: string) {
  return tx.sql
    .selectFrom('security_groups')
    .selectAll()
    .where('id', '=', id)
    .where('project_id', '=', place.projectId)
    .where('region_id', '=', place.regionId)
    .forUpdate()
    .executeTakeFirst();
}

export async function deleteGroup(tx: Transaction, id: string): Promise<void> {
  await tx.sql.deleteFrom('security_groups').where('id', '=', id).execute();
}
