import type { Selectable } from 'kysely';
import type { Sql, Transaction } from '../../db/database.ts';
import { pageWithCount } from '../../db/page.ts';
import type { Tables } from '../../db/tables.ts';
import type { Page } from '../../lib/page.ts';
import { ROLES } from '../../requests/principal.ts';
import type { AccountUserListQuery, AssignmentListQuery } from './schema.ts';

export type AssignmentRow = Selectable<Tables['role_assignments']>;

/** Lists the assignments of an account, of `only` these projects if they are given. */
export async function listAssignments(
  db: Sql,
  clientId: number,
  query: AssignmentListQuery,
  only?: readonly number[],
): Promise<Page<AssignmentRow>> {
  let matching = db.selectFrom('role_assignments').selectAll().where('client_id', '=', clientId);
  if (query.project_id !== undefined) matching = matching.where('project_id', '=', query.project_id);
  if (query.user_id !== undefined) matching = matching.where('user_id', '=', query.user_id);
  if (only) matching = matching.where((row) => row('project_id', '=', row.fn.any(row.val([...only]))));
  return pageWithCount(matching.orderBy('id'), query);
}

export async function findAssignment(db: Sql, id: number): Promise<AssignmentRow | undefined> {
  return db.selectFrom('role_assignments').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Returns the projects in which a user of an account has a role, null for the whole account. */
export async function placesOf(db: Sql, clientId: number, userId: number): Promise<(number | null)[]> {
  const rows = await db
    .selectFrom('role_assignments')
    .select('project_id')
    .where('client_id', '=', clientId)
    .where('user_id', '=', userId)
    .execute();
  return rows.map(({ project_id }) => project_id);
}

/** Returns the role of a user in the account; undefined for who is no member, or only invited. */
export async function groupOf(db: Sql, clientId: number, userId: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('client_users')
    .innerJoin('users', 'users.id', 'user_id')
    .select('role_id')
    .where('client_users.client_id', '=', clientId)
    .where('user_id', '=', userId)
    .where('pending', '=', false)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row?.role_id;
}

export async function insertAssignment(
  tx: Transaction,
  { clientId, userId, projectId }: { clientId: number; userId: number; projectId: number | null },
  { role, by }: { role: AssignmentRow['role']; by: number },
): Promise<AssignmentRow> {
  return tx.sql
    .insertInto('role_assignments')
    .values({
      client_id: clientId,
      user_id: userId,
      project_id: projectId,
      role,
      assigned_by: by,
      created_at: tx.now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function changeAssignment(
  tx: Transaction,
  id: number,
  change: Pick<AssignmentRow, 'project_id' | 'role'>,
): Promise<void> {
  await tx.sql
    .updateTable('role_assignments')
    .set({ ...change, updated_at: tx.now })
    .where('id', '=', id)
    .execute();
}

/** Lists the members of an account by their IDs, without those who are only invited. */
export async function listMembers(db: Sql, clientId: number, query: AccountUserListQuery) {
  let matching = db
    .selectFrom('client_users')
    .innerJoin('users', 'users.id', 'user_id')
    .select((user) => [
      'users.id',
      user.fn.coalesce('users.name', 'users.email').as('name'),
      'users.email',
      user.and([user('users.is_active', '=', true), user('client_users.is_active', '=', true)]).as('activated'),
      user('role_id', '=', ROLES.administrators.id).as('is_admin'),
    ])
    .where('client_users.client_id', '=', clientId)
    .where('users.pending', '=', false)
    .where('users.deleted_at', 'is', null);
  if (query.user_id !== undefined) matching = matching.where('users.id', '=', query.user_id);
  const { count, rows } = await pageWithCount(matching.orderBy('users.id'), query);
  return {
    count,
    results: rows.map((row) => ({
      ...row,
      activated: row.activated === true,
      is_admin: row.is_admin === true,
    })),
  };
}
