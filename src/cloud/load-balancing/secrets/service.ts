import { X509Certificate } from 'node:crypto';
import { sql } from 'kysely';
import { make, remove } from '../../../convergence/wants.ts';
import { belongsTo, newResource, type Place, type Transaction } from '../../../db/database.ts';
import { ConflictError, type FieldProblem, InvalidError } from '../../../lib/errors.ts';
import { foundById, inUse, isUuid, LOOKED_AT, newId, newTaskId, refuseHeld, someOf } from '../../../lib/ids.ts';
import type { Page } from '../../../lib/page.ts';
import { calendarTime, isoSeconds } from '../../../lib/time.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { quotaOwner, takeQuota } from '../../ground/quotas/service.ts';
import { waitingDeletion } from '../../ground/tasks/behind/service.ts';
import { beginTask, deletionId, removeAgain } from '../../ground/tasks/service.ts';
import { certificatesOf, isPkcs12 } from './pkcs12.ts';
import { type CreateSecret, type CreateTlsSecret, MOST_BYTES, type SecretListQuery } from './schema.ts';
import * as store from './store.ts';
import { CREATE_SECRET, DELETE_SECRET, type SecretUse, type StoredSecretRow } from './store.ts';
import { bundleProblems, certificatesIn, serverProblem, timeProblem } from './tls-bundle.ts';

/**
 * Returns what the payload can be used for. A certificate must be one; listeners also take an opaque PKCS #12 file, as
 * Octavia does. @throws InvalidError
 */
export async function usefulness(
  type: StoredSecretRow['secret_type'],
  base64: string,
  now: Date,
): Promise<StoredSecretRow['holds']> {
  const bytes = decoded(base64);
  if (type !== 'certificate' && type !== 'opaque') return 'bytes';
  const { holds, problem } = isPkcs12(bytes)
    ? { holds: 'tls' as const, problem: await pkcs12Problem(bytes, now) }
    : { holds: 'certificates' as const, problem: certificatesProblem(bytes, now) };
  if (problem === undefined) return holds;
  if (type === 'opaque') return 'bytes';
  throw new InvalidError({ payload: [problem] });
}

/** `Buffer` skips what isn't base64. */
function decoded(base64: string): Buffer {
  const bytes = Buffer.from(base64, 'base64');
  const text = base64.replaceAll(/[\r\n]/g, '');
  if (bytes.toString('base64') !== text) throw new InvalidError({ payload: ['Is not base64.'] });
  if (bytes.length > MOST_BYTES) {
    throw new InvalidError({ payload: [`Has ${bytes.length} bytes; at most ${MOST_BYTES} are allowed.`] });
  }
  return bytes;
}

async function pkcs12Problem(bytes: Buffer, now: Date): Promise<string | undefined> {
  const shown = await certificatesOf(bytes);
  if (!shown) {
    return 'Is a PKCS #12 file that no server can use: it must have no passphrase, and contain a certificate and its key.';
  }
  const [leaf, ...issuers] = shown;
  return serverProblem(leaf, issuers, now);
}

function certificatesProblem(bytes: Buffer, now: Date): string | undefined {
  const read = bytes[0] === 0x30 ? inDer(bytes) : certificatesIn(bytes.toString('latin1'));
  if (typeof read === 'string') return read;
  if (read.length === 0) return 'Contains no certificate.';
  return read.map((one) => timeProblem(one, now)).find((problem) => problem !== undefined);
}

function inDer(bytes: Buffer): X509Certificate[] | string {
  try {
    return [new X509Certificate(bytes)];
  } catch {
    return 'Is not a certificate in DER format, and not a PKCS #12 file.';
  }
}

const BINARY = 'application/octet-stream';

type NewSecret = Pick<store.StoredSecretRow, 'name' | 'secret_type' | 'holds' | 'expires_at'> &
  Partial<Pick<store.StoredSecretRow, 'content_type' | 'algorithm' | 'bit_length' | 'mode'>>;

function expiryOf(on: Platform, { expiration }: Pick<CreateSecret, 'expiration'>): Date | null {
  const time = calendarTime('expiration', expiration ?? undefined);
  if (time && time <= on.clock.now()) throw new InvalidError({ expiration: ['Must be in the future.'] });
  return time ?? null;
}

async function insert(on: Platform, scope: Scope, given: NewSecret, contents: Record<string, string>): Promise<string> {
  const [id, taskId] = [newId(), newTaskId()];
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
    takeQuota(tx, scope, 'secret_count');
    return taskId;
  });
}

/** Returns the task that stores a certificate with its key. @throws InvalidError, QuotaExceededError */
export async function createTlsSecret(on: Platform, scope: Scope, { name, payload, ...request }: CreateTlsSecret) {
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

export const listSecrets = (on: Platform, scope: Scope, query: SecretListQuery): Promise<Page<store.StoredSecretRow>> =>
  store.listSecrets(on.database.sql, scope, query);

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

export const secretDeletion = waitingDeletion('delete_secret', deleteSecret, ['secret_id']);

/** What listeners and pools do with secrets. Lock listeners and pools before them. */

/** A part of a load balancer that uses secrets. */
export type SecretUser = Pick<SecretUse, 'user_kind' | 'user_id'>;

export interface SecretWish {
  field: string;
  id: string;
  /** What the secret must hold. `bytes` is satisfied by any. */
  holds: StoredSecretRow['holds'];
}

const PURPOSES = { tls: 'a certificate with its key', certificates: 'certificates', bytes: 'anything' };

/**
 * Makes exactly these the secrets of the user, which must not have ended yet. They can't be deleted as long as it has
 * them. A user that keeps a secret may keep it after it has expired.
 * @throws InvalidError for a secret that is missing or of no use, ConflictError for one that a task holds
 */
export async function useSecrets(tx: Transaction, place: Place, user: SecretUser, wishes: readonly SecretWish[]) {
  const ids = [...new Set(wishes.map(({ id }) => id.toLowerCase()).filter(isUuid))];
  const found = await lockSecrets(tx, place, ids);
  const former = new Set((await usesOf(tx, user)).map(({ secret_id }) => secret_id));
  const problems = wishes.flatMap((wish) => problemOf(wish, found, former, tx.now));
  if (problems.length > 0) throw new InvalidError(problems);
  for (const { id, task_id } of found.values()) {
    if (task_id !== null) throw new ConflictError(`Secret ${id} is held by task ${task_id}; wait until it ends`);
  }
  await letSecretsGo(tx, [user], ids);
  const uses = ids.filter((id) => !former.has(id)).map((secret_id) => ({ secret_id, ...user }));
  if (uses.length > 0) await tx.sql.insertInto('secret_uses').values(uses).execute();
}

/** Ends what the users do with secrets, but for those that are kept. Call it when the users are deleted. */
export async function letSecretsGo(tx: Transaction, users: readonly SecretUser[], kept: readonly string[] = []) {
  const ids = users.map(({ user_id }) => user_id);
  await sql`
    delete from secret_uses
    where user_id = any(${ids}::uuid[]) and secret_id <> all(${kept}::uuid[])`.execute(tx.sql);
}

/** Locks the secrets against deletion, always in the same order, and returns them by ID. */
async function lockSecrets(
  tx: Transaction,
  place: Place,
  ids: readonly string[],
): Promise<Map<string, StoredSecretRow>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.sql
    .selectFrom('secrets')
    .selectAll()
    .where(belongsTo(place))
    .where('id', 'in', ids)
    .orderBy('id')
    .forShare()
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

async function usesOf(tx: Transaction, { user_id }: SecretUser): Promise<SecretUse[]> {
  return tx.sql.selectFrom('secret_uses').selectAll().where('user_id', '=', user_id).execute();
}

function problemOf(
  { field, id, holds }: SecretWish,
  found: ReadonlyMap<string, StoredSecretRow>,
  former: ReadonlySet<string>,
  now: Date,
): FieldProblem[] {
  const secret = found.get(id.toLowerCase());
  if (!secret) return [{ field, message: `No secret ${id} in this project and region.` }];
  if (holds !== 'bytes' && secret.holds !== holds) {
    return [{ field, message: `Secret ${id} does not hold ${PURPOSES[holds]}.` }];
  }
  const { expires_at: end } = secret;
  if (end === null || end > now || former.has(secret.id)) return [];
  return [{ field, message: `Secret ${id} expired at ${isoSeconds(end)}.` }];
}
