import { sql } from 'kysely';
import { onlyChecked, type Sql } from '../../db/database.ts';
import { pageWithCount } from '../../db/page.ts';
import type { Reach } from '../../requests/principal.ts';

type Page = { limit: number; offset: number };

/** Newest first, only of accounts within reach. */
export async function listStatusChanges(db: Sql, { all, clientId, resellerId }: Reach, page: Page) {
  let changes = db
    .selectFrom('client_status_changes as change')
    .innerJoin('clients', 'clients.id', 'change.client_id')
    .select(['change.id', 'change.client_id', 'change.old_status', 'change.new_status', 'change.changed_at']);
  if (!all) {
    changes = changes.where((row) =>
      row.or([row('change.client_id', '=', clientId ?? null), row('clients.reseller_id', '=', resellerId ?? null)]),
    );
  }
  return pageWithCount(changes.orderBy('change.id', 'desc'), page);
}

/** Includes the e-mail address of a user who belongs to the account. */
export async function findRequest(db: Sql, clientId: number, id: number) {
  return db
    .selectFrom('user_actions')
    .selectAll()
    .select((action) =>
      action
        .selectFrom('users')
        .innerJoin('client_users as member', 'member.user_id', 'users.id')
        .select('users.email')
        .whereRef('users.id', '=', 'user_actions.user_id')
        .whereRef('member.client_id', '=', 'user_actions.client_id')
        .where('users.deleted_at', 'is', null)
        .as('email'),
    )
    .where('id', '=', id)
    .where(onlyChecked(sql`client_id = ${clientId}`))
    .where('origin', 'is', null)
    .executeTakeFirst();
}
