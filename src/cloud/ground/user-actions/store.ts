import type { Selectable } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { pageByIds } from '../../../db/page.ts';
import type { QuarterlyTable } from '../../../db/quarters.ts';
import type { Tables } from '../../../db/tables.ts';
import type { Page } from '../../../lib/page.ts';
import type { RequestListQuery } from './schema.ts';

export const USER_ACTIONS: QuarterlyTable = {
  name: 'user_actions',
  column: '"timestamp"',
  from: (moment) => `'${moment.toISOString()}'`,
  time: '"timestamp"',
  isOver: 'true',
  goesOn: () => 'false',
};

export type UserActionRow = Selectable<Tables['user_actions']>;
/** An action, with the email address of its user if the user is in the account. */
export type ListedAction = UserActionRow & { email: string | null };
/** A list query of an account, with parsed times. */
export interface RequestFilter extends RequestListQuery {
  clientId: number;
  from: Date | undefined;
  before: Date | undefined;
}

/** Lists all requests for a change, including refused ones. */
export async function listRequests(db: Sql, filter: RequestFilter): Promise<Page<ListedAction>> {
  let actions = db.selectFrom('user_actions').where('client_id', '=', filter.clientId).where('origin', 'is', null);
  if (filter.project_id) actions = actions.where('project_id', 'in', filter.project_id);
  if (filter.region_id) actions = actions.where('region_id', 'in', filter.region_id);
  if (filter.user_id !== undefined) actions = actions.where('user_id', '=', filter.user_id);
  if (filter.request_id !== undefined) actions = actions.where('request_id', '=', filter.request_id);
  if (filter.operation) actions = actions.where('operation', 'in', filter.operation);
  if (filter.outcome) actions = actions.where('outcome', 'in', filter.outcome);
  if (filter.from) actions = actions.where('timestamp', '>=', filter.from);
  if (filter.before) actions = actions.where('timestamp', '<', filter.before);
  return pageByIds(
    (order) => actions.select('id').orderBy('timestamp', order).orderBy('id', order),
    { ...filter, direction: filter.order_by ?? 'desc' },
    100,
    (ids) => readActions(db, ids),
  );
}

/** Returns the actions with these IDs, in any order. */
export async function readActions(db: Sql, ids: readonly number[]): Promise<ListedAction[]> {
  return withEmails(db, await db.selectFrom('user_actions').selectAll().where('id', 'in', ids).execute());
}

/** Adds email addresses to rows. */
export async function withEmails(db: Sql, rows: readonly UserActionRow[]): Promise<ListedAction[]> {
  if (rows.length === 0) return [];
  const members = await db
    .selectFrom('users')
    .innerJoin('client_users as member', 'member.user_id', 'users.id')
    .select(['users.id', 'users.email', 'member.client_id'])
    .where('users.id', 'in', [...new Set(rows.map(({ user_id }) => user_id))])
    .where('member.client_id', 'in', [...new Set(rows.map(({ client_id }) => client_id))])
    .where('users.deleted_at', 'is', null)
    .execute();
  const emails = new Map(members.map(({ id, client_id, email }) => [`${client_id} ${id}`, email]));
  return rows.map((row) => ({ email: emails.get(`${row.client_id} ${row.user_id}`) ?? null, ...row }));
}
