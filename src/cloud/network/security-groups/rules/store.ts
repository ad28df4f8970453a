import { type Selectable, sql } from 'kysely';
import { belongsTo, type Place, type Sql, type Transaction } from '../../../../db/database.ts';
import { compiledQuery } from '../../../../db/statements.ts';
import type { Tables } from '../../../../db/tables.ts';
import { NotFoundError } from '../../../../lib/errors.ts';
import { existingGroups } from '../../ports/groups/in-transaction.ts';
import { type CanonicalRule, duplicateKey } from './rule.ts';

export type RuleRow = Selectable<Tables['security_group_rules']>;
export type IdentifiedRule = CanonicalRule & { id: string };

const FIRST_REVISION = 0;

/** Lists the rules in the order in which they were given. */
export async function rulesOf(tx: Transaction, groupId: string): Promise<RuleRow[]> {
  return tx.sql
    .selectFrom('security_group_rules')
    .selectAll()
    .where('security_group_id', '=', groupId)
    .orderBy('created_at')
    .orderBy('position')
    .execute();
}

/** Returns the group of a rule; undefined when the project has no such rule in this region. */
export async function groupOfRule(db: Sql, place: Place, ruleId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('security_group_rules as rule')
    .innerJoin('security_groups as group', 'group.id', 'rule.security_group_id')
    .select('group.id')
    .where('rule.id', '=', ruleId)
    .where(belongsTo(place, 'group'))
    .executeTakeFirst();
  return row?.id;
}

/** Adds rules. Their positions begin with `firstPosition`. */
export async function insertRules(
  tx: Transaction,
  groupId: string,
  rules: IdentifiedRule[],
  firstPosition: number,
): Promise<RuleRow[]> {
  if (rules.length === 0) return [];
  const rows = newRules(groupId, rules, tx.now, firstPosition);
  await insertRuleRows(tx.sql, { rows: JSON.stringify(rows) });
  return rows;
}

export function newRules(groupId: string, rules: IdentifiedRule[], now: Date, firstPosition = 0): RuleRow[] {
  return rules.map((rule, index) => ({
    ...rule,
    security_group_id: groupId,
    revision_number: FIRST_REVISION,
    duplicate_key: duplicateKey(rule),
    position: firstPosition + index,
    created_at: now,
    updated_at: now,
  }));
}

// One parameter for all rules: with a parameter for each column, the SQL of 250 rules would be very long.
const insertRuleRows = compiledQuery((db, args: { rows: string }) =>
  sql`
    insert into security_group_rules
    select * from jsonb_populate_recordset(null::security_group_rules, ${args.rows}::jsonb)`.compile(db),
);

/** Replaces the rules with these IDs. Each gets its next revision. */
export async function updateRules(tx: Transaction, rules: IdentifiedRule[]): Promise<void> {
  if (rules.length === 0) return;
  const rows = rules.map((rule) => ({ ...rule, duplicate_key: duplicateKey(rule) }));
  await sql`
    update security_group_rules as rule set direction = given.direction, ethertype = given.ethertype,
      protocol = given.protocol, port_range_min = given.port_range_min, port_range_max = given.port_range_max,
      remote_ip_prefix = given.remote_ip_prefix, remote_group_id = given.remote_group_id,
      description = given.description, duplicate_key = given.duplicate_key,
      revision_number = rule.revision_number + 1, updated_at = ${tx.now}
    from jsonb_populate_recordset(null::security_group_rules, ${JSON.stringify(rows)}::jsonb) as given
    where rule.id = given.id`.execute(tx.sql);
}

export async function deleteRules(tx: Transaction, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.sql.deleteFrom('security_group_rules').where('id', 'in', ids).execute();
}

/** @throws NotFoundError for a remote group that the project doesn't have in this region, as Neutron does */
export async function requireRemoteGroups(
  tx: Transaction,
  place: Place,
  rules: readonly { remote_group_id: string | null }[],
): Promise<void> {
  const ids = [...new Set(rules.flatMap((rule) => rule.remote_group_id ?? []))];
  const known = await existingGroups(tx, place, ids);
  const missing = ids.find((id) => !known.has(id));
  if (missing !== undefined) throw new NotFoundError('Remote security group', missing);
}
