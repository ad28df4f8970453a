import { type TaskEnd, taskType } from '../../../convergence/task-kind.ts';
import type { Transaction } from '../../../db/database.ts';
import type { Clock } from '../../../lib/time.ts';
import { type QuotaOwner, releaseQuota } from '../../ground/quotas/service.ts';
import { deleteSecret, settle } from './store.ts';

interface SecretInput extends QuotaOwner {
  secretId: string;
}

export const CREATE_SECRET = taskType<SecretInput>('create_secret');
export const DELETE_SECRET = taskType<SecretInput>('delete_secret');

/** How tasks on secrets end. */
export function secretTasks({ clock }: { clock: Clock }): TaskEnd[] {
  async function drop(tx: Transaction, { secretId, ...owner }: SecretInput) {
    await deleteSecret(tx, secretId);
    await releaseQuota(tx, owner, 'secret_count');
  }

  const create: TaskEnd<SecretInput> = {
    ...CREATE_SECRET,
    async complete(tx, _task, { secretId }) {
      await settle(tx, secretId, clock.now());
      return { secrets: [secretId] };
    },
    abandon: (tx, _task, input) => drop(tx, input),
  };
  const remove: TaskEnd<SecretInput> = {
    ...DELETE_SECRET,
    removes: true,
    async complete(tx, _task, input) {
      await drop(tx, input);
      return null;
    },
  };
  return [create, remove];
}
