import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Sql, Transaction } from '../../../db/database.ts';
import type { Tables } from '../../../db/tables.ts';
import type { MoneySight } from '../../../requests/principal.ts';

export type BudgetRow = Selectable<Tables['budgets']>;

/** The budgets that a caller may see: all, or those of its own account and of its reseller's clients. */
function seenBy(sight: MoneySight): RawBuilder<boolean> {
  if (sight.all) return sql`true`;
  const own = sql<boolean>`client_id = ${sight.clientId}`;
  if (sight.resellerId === null) return own;
  return sql`(${own} or client_id in (select id from clients where reseller_id = ${sight.resellerId}))`;
}

/** Returns budgets, the latest first. */
export async function listBudgets(
  db: Sql,
  sight: MoneySight,
  filter: { client_id?: number; project_id?: number },
  { before, limit }: { before: number | undefined; limit: number },
): Promise<BudgetRow[]> {
  let rows = db.selectFrom('budgets').selectAll().where(seenBy(sight)).orderBy('id', 'desc').limit(limit);
  if (filter.client_id !== undefined) rows = rows.where('client_id', '=', filter.client_id);
  if (filter.project_id !== undefined) rows = rows.where('project_id', '=', filter.project_id);
  if (before !== undefined) rows = rows.where('id', '<', before);
  return rows.execute();
}

const one = (db: Sql, sight: MoneySight, id: number) =>
  db.selectFrom('budgets').selectAll().where('id', '=', id).where(seenBy(sight));

export const findBudget = (db: Sql, sight: MoneySight, id: number) => one(db, sight, id).executeTakeFirst();
export const lockBudget = (tx: Transaction, sight: MoneySight, id: number) =>
  one(tx.sql, sight, id).forUpdate().executeTakeFirst();

export const countBudgets = async (tx: Transaction, clientId: number): Promise<number> =>
  (
    await tx.sql
      .selectFrom('budgets')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('client_id', '=', clientId)
      .executeTakeFirstOrThrow()
  ).count;

type Given = Pick<
  BudgetRow,
  'client_id' | 'project_id' | 'set_by' | 'amount' | 'currency' | 'warn_at' | 'stops_creation'
>;

/** Returns undefined if there is one for the same already. */
export const insertBudget = (tx: Transaction, budget: Given): Promise<BudgetRow | undefined> =>
  tx.sql
    .insertInto('budgets')
    .values({ ...budget, count_at: tx.now, created_at: tx.now })
    .onConflict((conflict) => conflict.constraint('budgets_once').doNothing())
    .returningAll()
    .executeTakeFirst();

/** Changes a budget, which is then counted anew. */
export const changeBudget = (
  tx: Transaction,
  id: number,
  change: Partial<Pick<Given, 'amount' | 'currency' | 'warn_at' | 'stops_creation'>>,
): Promise<BudgetRow> =>
  tx.sql
    .updateTable('budgets')
    .set({ ...change, told: 0, count_at: tx.now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();

export async function deleteBudget(tx: Transaction, id: number): Promise<void> {
  await tx.sql.deleteFrom('budgets').where('id', '=', id).execute();
}

export async function deleteBudgetsOf(tx: Transaction, clientId: number): Promise<void> {
  await tx.sql.deleteFrom('budgets').where('client_id', '=', clientId).execute();
}

/** What a worker counts. */
export type DueBudget = Pick<BudgetRow, 'id' | 'client_id' | 'project_id' | 'currency'>;

/** Takes budgets to count, so that no other worker does meanwhile. If the worker dies, another takes them later. */
export async function takeDue(tx: Transaction, limit: number): Promise<DueBudget[]> {
  const { rows } = await sql<DueBudget>`
    update budgets set count_at = ${tx.now}::timestamptz + interval '5 minutes'
    where id in (
      select id from budgets where count_at <= ${tx.now} order by count_at limit ${limit} for update skip locked)
    returning id, client_id, project_id, currency`.execute(tx.sql);
  return rows;
}

export interface Counted extends Pick<BudgetRow, 'id' | 'currency'> {
  spent: string;
}
export type Reached = Pick<
  BudgetRow,
  'id' | 'client_id' | 'project_id' | 'amount' | 'currency' | 'stops_creation' | 'set_by'
> & { month: string; spent: string; told: number };

/**
 * Notes what was spent in a month, of budgets that still have that currency. Returns those of which people are to be told,
 * with the highest percentage that they have reached.
 */
export async function noteSpent(
  tx: Transaction,
  counted: readonly Counted[],
  { month, at, again }: { month: string; at: Date; again: Date },
): Promise<Reached[]> {
  const { rows } = await sql<Reached & { is_new: boolean }>`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(counted)}::jsonb) as given (id bigint, currency text, spent numeric)
    ), locked as (
      select budgets.id, given.currency, given.spent, case when month = ${month} then told else 0 end as known,
        coalesce((select max(share) from unnest(warn_at) as share where given.spent * 100 >= amount * share), 0) as reached
      from budgets join given using (id) for update of budgets
    )
    update budgets set month = ${month}, spent = locked.spent, currency = locked.currency, counted_at = ${at}, count_at = ${again},
      told = greatest(known, reached)
    from locked where budgets.id = locked.id
    returning budgets.*, reached > known as is_new`.execute(tx.sql);
  return rows.filter(({ is_new }) => is_new);
}
