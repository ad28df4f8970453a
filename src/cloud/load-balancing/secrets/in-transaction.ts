import { sql } from 'kysely';
import type { Transaction } from '../../../db/database.ts';
import { isIn, type Place } from '../../../db/place.ts';
import { ConflictError, type FieldProblem, InvalidError } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { isoSeconds } from '../../../lib/timestamps.ts';
import type { SecretUse, StoredSecretRow } from './store.ts';

/** What listeners and pools do with secrets. Lock listeners and pools before them. */

/** A part of a load balancer that uses secrets. */
export type SecretUser = Pick<SecretUse, 'user_kind' | 'user_id'>;

/** A secret that a request names. */
export interface SecretWish {
  /** The field of the request. */
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
export async function useSecrets(
  tx: Transaction,
  place: Place,
  user: SecretUser,
  wishes: readonly SecretWish[],
  now: Date,
): Promise<void> {
  const ids = [...new Set(wishes.map(({ id }) => id.toLowerCase()).filter(isUuid))];
  const found = await lockSecrets(tx, place, ids);
  const former = new Set((await usedBy(tx, user)).map(({ secret_id }) => secret_id));
  const problems = wishes.flatMap((wish) => problemOf(wish, found, former, now));
  if (problems.length > 0) throw new InvalidError(problems);
  for (const { id, task_id } of found.values()) {
    if (task_id !== null)
      throw new ConflictError(`Secret ${id} is held by task ${task_id}; wait until it ends`);
  }
  await letSecretsGo(tx, [user], ids);
  const uses = ids.filter((id) => !former.has(id)).map((secret_id) => ({ secret_id, ...user }));
  if (uses.length > 0) await tx.sql.insertInto('secret_uses').values(uses).execute();
}

/** Ends what the users do with secrets, but for those that are kept. Call it when the users are deleted. */
export async function letSecretsGo(
  tx: Transaction,
  users: readonly SecretUser[],
  kept: readonly string[] = [],
): Promise<void> {
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
    .where(isIn(place))
    .where('id', 'in', ids)
    .orderBy('id')
    .forShare()
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

async function usedBy(tx: Transaction, { user_id }: SecretUser): Promise<SecretUse[]> {
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
