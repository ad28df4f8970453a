import { sql } from 'kysely';
import type { Sql, Transaction } from '../../db/database.ts';
import { KINDS } from './work/kinds.ts';

/** What goes unmentioned: subnets and rules, the switch of logging, and addresses. */
const UNTOLD: ReadonlySet<string> = new Set([
  'logging',
  'reserved_fixed_ip',
  'security_group_rule',
  'subnet',
]);
/** What accounts are told of what they hold: not parts of other things. */
const CONTENTS = KINDS.filter(({ kind }) => !UNTOLD.has(kind));

/** Returns what there is in the projects of an account, and the account's own. */
export async function contentsOf(db: Sql, clientId: number): Promise<{ kind: string; count: number }[]> {
  const inProjects = CONTENTS.map(
    ({ many, rows, own }) => sql`
      select ${many}::text as kind, count(*)::int as count from ${sql.raw(rows)}
      where project_id in (select id from projects where client_id = ${clientId}) and ${sql.raw(own)}`,
  );
  const { rows } = await sql<{ kind: string; count: number }>`
    select kind, count from (
      select 'projects' as kind, count(*)::int as count from projects where client_id = ${clientId}
      union all ${sql.join(inProjects, sql` union all `)}
      union all select 'AI tasks', count(*)::int from ai_tasks where client_id = ${clientId}
      union all select 'users', count(*)::int from client_users where client_id = ${clientId}
      union all select 'API tokens', count(*)::int from api_tokens where client_id = ${clientId} and deleted_at is null
      union all select 'webhooks', count(*)::int from webhooks where client_id = ${clientId}
    ) as contents where count > 0`.execute(db);
  return rows;
}

export async function insertDeletion(
  tx: Transaction,
  deletion: {
    task_id: string;
    client_id: number;
    project_id: number | null;
    begun_at: Date;
  },
): Promise<void> {
  await tx.sql.insertInto('deletions').values(deletion).execute();
}

export interface Confirmation {
  user_id: number;
  confirmation: string;
  expires_at: Date;
}

/** An earlier one of the account is of no use any more. */
export async function putConfirmation(tx: Transaction, clientId: number, given: Confirmation): Promise<void> {
  await tx.sql
    .insertInto('deletion_confirmations')
    .values({ client_id: clientId, ...given })
    .onConflict((one) => one.column('client_id').doUpdateSet(given))
    .execute();
}

/** Returns the confirmation, which can't be used again. */
export async function takeConfirmation(tx: Transaction, clientId: number): Promise<Confirmation | undefined> {
  return tx.sql
    .deleteFrom('deletion_confirmations')
    .where('client_id', '=', clientId)
    .returning(['user_id', 'confirmation', 'expires_at'])
    .executeTakeFirst();
}
