import type { Insertable, Selectable } from 'kysely';
import type { Sql, Transaction } from '../../../db/database.ts';
import { pageWithCount } from '../../../db/page.ts';
import type { Tables } from '../../../db/tables.ts';
import type { Page, PageQuery } from '../../../lib/page.ts';

export type AccessRuleRow = Selectable<Tables['file_share_access_rules']>;

export async function insertRules(
  tx: Transaction,
  rules: Insertable<Tables['file_share_access_rules']>[],
): Promise<void> {
  if (rules.length > 0) await tx.sql.insertInto('file_share_access_rules').values(rules).execute();
}

export async function countRules(tx: Transaction, shareId: string): Promise<number> {
  const { count } = await tx.sql
    .selectFrom('file_share_access_rules')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('file_share_id', '=', shareId)
    .executeTakeFirstOrThrow();
  return count;
}

/** Lists the rules in the order of their creation. */
export async function listRules(db: Sql, shareId: string, page: PageQuery): Promise<Page<AccessRuleRow>> {
  const rules = db.selectFrom('file_share_access_rules').selectAll().where('file_share_id', '=', shareId);
  return pageWithCount(rules.orderBy('created_at').orderBy('id'), page);
}

/** Returns undefined if there was no such rule. */
export async function deleteRule(
  tx: Transaction,
  shareId: string,
  id: string,
): Promise<{ id: string } | undefined> {
  return tx.sql
    .deleteFrom('file_share_access_rules')
    .where('file_share_id', '=', shareId)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
}
