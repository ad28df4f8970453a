import type { Kysely } from 'kysely';
import { pageWithCount } from '../../db/page.ts';
import type { Tables } from '../../db/tables.ts';
import type { Reach } from '../../requests/principal.ts';

type Page = { limit: number; offset: number };

/** Newest first, only of accounts within reach. */
export async function listStatusChanges(
  db: Kysely<Tables>,
  { all, clientId, resellerId }: Reach,
  page: Page,
) {
  let changes = db
    .selectFrom('client_status_changes as change')
    .innerJoin('clients', 'clients.id', 'change.client_id')
    .select(['change.id', 'change.client_id', 'change.old_status', 'change.new_status', 'change.changed_at']);
  if (!all) {
    changes = changes.where((row) =>
      row.or([
        row('change.client_id', '=', clientId ?? null),
        row('clients.reseller_id', '=', resellerId ?? null),
      ]),
    );
  }
  return pageWithCount(changes.orderBy('change.id', 'desc'), page);
}

/** Newest first. */
export async function listRequests(db: Kysely<Tables>, clientId: number, page: Page) {
  return pageWithCount(requests(db, clientId).orderBy('timestamp', 'desc').orderBy('id', 'desc'), page);
}

export async function findRequest(db: Kysely<Tables>, clientId: number, id: number) {
  return requests(db, clientId).where('id', '=', id).executeTakeFirst();
}

export type RequestRow = Awaited<ReturnType<typeof listRequests>>['rows'][number];

/** Includes the e-mail address of users who belong to the account. */
function requests(db: Kysely<Tables>, clientId: number) {
  return db
    .selectFrom('user_actions')
    .select([
      'id',
      'operation',
      'client_id',
      'user_id',
      'token_id',
      'timestamp',
      'path',
      'source_user_ip',
      'method',
      'status',
    ])
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
    .where('client_id', '=', clientId)
    .where('origin', 'is', null);
}
