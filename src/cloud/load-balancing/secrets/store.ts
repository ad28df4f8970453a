import { type Insertable, type RawBuilder, type Selectable, sql } from 'kysely';
import { type TaskEnd, taskType } from '../../../convergence/task-kind.ts';
import { belongsTo, isIn, type Place, type Sql, type Transaction } from '../../../db/database.ts';
import { pageWithCount } from '../../../db/page.ts';
import type { Tables } from '../../../db/tables.ts';
import type { Page, PageQuery } from '../../../lib/page.ts';
import { type QuotaOwner, releaseQuota } from '../../ground/quotas/service.ts';

export type StoredSecretRow = Selectable<Tables['secrets']>;
export type SecretUse = Selectable<Tables['secret_uses']>;

function secrets(db: Sql, where: RawBuilder<boolean>) {
  return db.selectFrom('secrets').selectAll().where(where);
}

export async function findSecret(db: Sql, place: Place, id: string): Promise<StoredSecretRow | undefined> {
  return secrets(db, belongsTo(place)).where('id', '=', id).executeTakeFirst();
}

export async function listSecrets(db: Sql, place: Place, query: PageQuery): Promise<Page<StoredSecretRow>> {
  return pageWithCount(secrets(db, isIn(place)).orderBy('created_at', 'desc').orderBy('id', 'desc'), query);
}

export async function insertSecret(db: Sql, secret: Insertable<Tables['secrets']>): Promise<void> {
  await db.insertInto('secrets').values(secret).execute();
}

/** Nothing can begin to use the secret until the transaction ends. */
export async function lockSecret(tx: Transaction, place: Place, id: string): Promise<StoredSecretRow | undefined> {
  return secrets(tx.sql, belongsTo(place)).where('id', '=', id).forUpdate().executeTakeFirst();
}

/** A use, with the task that removes the user, if there is one. */
export type LeavingUse = SecretUse & { leaving: string | null };

export async function usesOf(tx: Transaction, id: string, most: number): Promise<LeavingUse[]> {
  const removed = (table: 'lb_listeners' | 'lb_pools') =>
    sql`select task_id from ${sql.table(table)} where id = user_id and provisioning_status = 'PENDING_DELETE'`;
  const { rows } = await sql<LeavingUse>`
    select secret_uses.*, coalesce((${removed('lb_listeners')}), (${removed('lb_pools')})) as leaving
    from secret_uses where secret_id = ${id} order by user_id limit ${most}`.execute(tx.sql);
  return rows;
}

export async function hold(tx: Transaction, id: string, taskId: string): Promise<void> {
  await tx.sql.updateTable('secrets').set({ task_id: taskId, updated_at: tx.now }).where('id', '=', id).execute();
}

/** Frees the secret of its task. */
export async function settle(tx: Transaction, id: string): Promise<void> {
  await tx.sql.updateTable('secrets').set({ task_id: null, updated_at: tx.now }).where('id', '=', id).execute();
}

export async function deleteSecret(tx: Transaction, id: string): Promise<void> {
  await tx.sql.deleteFrom('secrets').where('id', '=', id).execute();
}

interface SecretInput extends QuotaOwner {
  secretId: string;
}

export const CREATE_SECRET = taskType<SecretInput>('create_secret');
export const DELETE_SECRET = taskType<SecretInput>('delete_secret');

export function secretTasks(): TaskEnd[] {
  async function drop(tx: Transaction, { secretId, ...owner }: SecretInput) {
    await deleteSecret(tx, secretId);
    releaseQuota(tx, owner, 'secret_count');
  }

  const create: TaskEnd<SecretInput> = {
    ...CREATE_SECRET,
    async complete(tx, _task, { secretId }) {
      await settle(tx, secretId);
      return { secrets: [secretId] };
    },
    abandon: (tx, _task, input) => drop(tx, input),
  };
  const remove: TaskEnd<SecretInput> = {
    ...DELETE_SECRET,
    removes: true,
    complete: (tx, _task, input) => drop(tx, input),
  };
  return [create, remove];
}
