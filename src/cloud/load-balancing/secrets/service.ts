import { randomUUID } from 'node:crypto';
import { make, remove } from '../../../convergence/wants.ts';
import { newResource } from '../../../db/place.ts';
import { calendarTime } from '../../../lib/calendar-time.ts';
import { type ConflictError, InvalidError } from '../../../lib/errors.ts';
import { foundById } from '../../../lib/found.ts';
import { inUse, LOOKED_AT, refuseHeld, someOf } from '../../../lib/held.ts';
import { newTaskId } from '../../../lib/ids.ts';
import type { Page } from '../../../lib/page.ts';
import { isoSeconds } from '../../../lib/timestamps.ts';
import type { Platform } from '../../../platform.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { quotaOwner, takeQuota } from '../../ground/quotas/in-transaction.ts';
import type { Rest, WaitingDeletion } from '../../ground/tasks/behind/service.ts';
import { beginTask, deletionId, removeAgain } from '../../ground/tasks/service.ts';
import { usefulness } from './payload.ts';
import type { CreateSecret, CreateTlsSecret, SecretListQuery } from './schema.ts';
import * as store from './store.ts';
import { CREATE_SECRET, DELETE_SECRET } from './tasks.ts';
import { bundleProblems } from './tls-bundle.ts';

const BINARY = 'application/octet-stream';

type NewSecret = Pick<store.StoredSecretRow, 'name' | 'secret_type' | 'holds' | 'expires_at'> &
  Partial<Pick<store.StoredSecretRow, 'content_type' | 'algorithm' | 'bit_length' | 'mode'>>;

function expiryOf(on: Platform, { expiration }: Pick<CreateSecret, 'expiration'>): Date | null {
  const time = calendarTime('expiration', expiration ?? undefined);
  if (time && time <= on.clock.now()) throw new InvalidError({ expiration: ['Must be in the future.'] });
  return time ?? null;
}

async function insert(
  on: Platform,
  scope: Scope,
  given: NewSecret,
  contents: Record<string, string>,
): Promise<string> {
  const [id, taskId] = [randomUUID(), newTaskId()];
  const secret = { content_type: BINARY, algorithm: null, bit_length: null, mode: null, ...given };
  const { name, secret_type: type, expires_at: expiresAt } = secret;
  return on.database.accept(async (tx) => {
    await store.insertSecret(tx.sql, { id, ...secret, ...newResource(scope, taskId, tx.now) });
    tx.about({ type: 'secret', id, name });
    const spec = {
      name,
      type,
      secrets: Object.fromEntries(Object.keys(contents).map((key) => [key, true as const])),
      ...(expiresAt && { expiresAt: isoSeconds(expiresAt) }),
    };
    await beginTask(on, tx, scope, {
      id: taskId,
      task: CREATE_SECRET,
      data: { name, secret_type: type },
      input: { secretId: id, ...quotaOwner(scope) },
      wants: [make('secret', id, spec, contents)],
    });
    await takeQuota(tx, scope, 'secret_count');
    return taskId;
  });
}

/** Returns the task that stores a certificate with its key. @throws InvalidError, QuotaExceededError */
export async function createTlsSecret(
  on: Platform,
  scope: Scope,
  { name, payload, ...request }: CreateTlsSecret,
): Promise<string> {
  const expires_at = expiryOf(on, request);
  const problems = bundleProblems(payload, on.clock.now());
  if (problems.length > 0) throw new InvalidError(problems);
  return insert(on, scope, { name, secret_type: 'certificate', holds: 'tls', expires_at }, { ...payload });
}

/** Returns the task that stores any other secret. @throws InvalidError, QuotaExceededError */
export async function createSecret(
  on: Platform,
  scope: Scope,
  { payload, payload_content_encoding: _, ...request }: CreateSecret,
): Promise<string> {
  const { name, secret_type, algorithm, bit_length, mode } = request;
  const expires_at = expiryOf(on, request);
  const holds = await usefulness(secret_type, payload, on.clock.now());
  return insert(
    on,
    scope,
    {
      name,
      secret_type,
      holds,
      expires_at,
      content_type: request.payload_content_type,
      algorithm: algorithm ?? null,
      bit_length: bit_length ?? null,
      mode: mode ?? null,
    },
    { payload },
  );
}

export const listSecrets = (
  on: Platform,
  scope: Scope,
  query: SecretListQuery,
): Promise<Page<store.StoredSecretRow>> => store.listSecrets(on.database.sql, scope, query);

/** @throws NotFoundError */
export const getSecret = (on: Platform, scope: Scope, id: string): Promise<store.StoredSecretRow> =>
  foundById('Secret', id, () => store.findSecret(on.database.sql, scope, id));

/** Returns the task that deletes it. @throws NotFoundError, ConflictError while a load balancer uses it */
export const deleteSecret = (on: Platform, scope: Scope, id: string): Promise<string> =>
  on.database.accept(async (tx) => {
    const secret = await foundById('Secret', id, () => store.lockSecret(tx, scope, id));
    tx.about({ ...secret, type: 'secret' });
    const again = await removeAgain(on, tx, scope, secret.task_id, DELETE_SECRET);
    if (again !== undefined) return again;
    refuseHeld(`Secret ${secret.id}`, secret);
    const uses = await store.usesOf(tx, secret.id, LOOKED_AT);
    if (uses.length > 0) throw usedBy(secret.id, uses);
    const taskId = deletionId(scope);
    await store.hold(tx, secret.id, taskId);
    return beginTask(on, tx, scope, {
      id: taskId,
      task: DELETE_SECRET,
      data: { secret_id: secret.id },
      input: { secretId: secret.id, ...quotaOwner(scope) },
      wants: [remove('secret', secret.id)],
    });
  });

function usedBy(id: string, uses: store.LeavingUse[]): ConflictError {
  const users = uses.map(({ user_kind, user_id }) => `${user_kind} ${user_id}`);
  return inUse(
    `Secret ${id} is in use by ${someOf(users)}; give them another secret or delete them first`,
    uses.map(({ leaving }) => leaving ?? undefined),
  );
}

/** A deletion that may wait for what still uses the thing. */
export const secretDeletion: WaitingDeletion<Rest<typeof deleteSecret>> = {
  type: 'delete_secret',
  remove: deleteSecret,
  names: ['secret_id'],
  options: [],
};
