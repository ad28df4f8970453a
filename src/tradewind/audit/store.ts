import { type Selectable, sql } from 'kysely';
import type { Sql } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';

/** A filter with parsed times. Whatever is undefined matches everything. */
export interface AuditFilter {
  /** Whether the reader may also know what belongs to others than the account that a record concerns. */
  everything: boolean;
  clientId: number | undefined;
  userIds: readonly number[] | undefined;
  tokenIds: readonly number[] | undefined;
  types: readonly string[] | undefined;
  subjects: readonly string[] | undefined;
  projectIds: readonly number[] | undefined;
  addresses: readonly string[] | undefined;
  requestIds: readonly string[] | undefined;
  outcomes: readonly ('accepted' | 'failed' | 'refused')[] | undefined;
  from: Date | undefined;
  before: Date | undefined;
}

/** The place of a record in the order of a list. */
export interface Place {
  at: Date;
  id: number;
}

export type AuditRow = Selectable<Tables['user_actions']> & {
  email: string | null;
  token_name: string | null;
};

/** Returns the next records after a place, the newest first. */
export async function readRecords(
  db: Sql,
  filter: AuditFilter,
  after: Place | undefined,
  limit: number,
): Promise<AuditRow[]> {
  const page = matching(db, filter)
    .$if(after !== undefined, (records) =>
      records.where(sql<boolean>`("timestamp", user_actions.id) < (${after?.at}, ${after?.id})`),
    )
    .selectAll('user_actions')
    .orderBy('timestamp', 'desc')
    .orderBy('id', 'desc')
    .limit(limit);
  return db
    .selectFrom(page.as('page'))
    .leftJoin('api_tokens', (on) => {
      const made = on.onRef('api_tokens.id', '=', 'page.token_id');
      return filter.everything ? made : made.onRef('api_tokens.client_id', '=', 'page.client_id');
    })
    .leftJoin('client_users', (on) =>
      on.onRef('client_users.user_id', '=', 'page.user_id').onRef('client_users.client_id', '=', 'page.client_id'),
    )
    .leftJoin('users', (on) => on.onRef('users.id', '=', 'client_users.user_id').on('users.deleted_at', 'is', null))
    .selectAll('page')
    .select(['api_tokens.name as token_name', 'users.email'])
    .orderBy('page.timestamp', 'desc')
    .orderBy('page.id', 'desc')
    .execute();
}

function matching(db: Sql, filter: AuditFilter) {
  let records = db.selectFrom('user_actions');
  if (filter.clientId !== undefined) records = records.where('client_id', '=', filter.clientId);
  if (filter.userIds) records = records.where('user_id', 'in', filter.userIds);
  if (filter.tokenIds) records = records.where('token_id', 'in', filter.tokenIds);
  if (filter.subjects) records = records.where('subject', 'in', filter.subjects);
  if (filter.addresses) records = records.where('source_user_ip', 'in', filter.addresses);
  if (filter.requestIds) records = records.where('request_id', 'in', filter.requestIds);
  if (filter.outcomes) records = records.where('outcome', 'in', filter.outcomes);
  if (filter.from) records = records.where('timestamp', '>=', filter.from);
  if (filter.before) records = records.where('timestamp', '<', filter.before);
  const { types, projectIds } = filter;
  if (types) {
    records = records.where((each) =>
      each.or(
        types.map((type) =>
          type.endsWith('*')
            ? each('event_type', 'like', `${type.slice(0, -1).replaceAll('_', '\\_')}%`)
            : each('event_type', '=', type),
        ),
      ),
    );
  }
  if (projectIds) {
    records = records.where('project_id', 'in', projectIds);
    // The index begins with the account.
    if (filter.clientId === undefined) {
      records = records.where('client_id', 'in', (each) =>
        each.selectFrom('projects').select('client_id').where('projects.id', 'in', projectIds),
      );
    }
  }
  return records;
}

/** The records that are in the chain, by their numbers. */
export interface Sealed {
  after: number;
  upTo: number;
}

export async function sealedRecords(db: Sql): Promise<Sealed> {
  const { rows } = await sql<Sealed>`
    select (select last_id from audit_seals order by number limit 1) as after,
      (select last_id from audit_seals order by number desc limit 1) as "upTo"`.execute(db);
  return { after: rows[0]?.after ?? 0, upTo: rows[0]?.upTo ?? 0 };
}
