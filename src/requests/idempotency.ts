import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Sql, Transaction } from '../db/database.ts';
import { ConflictError, UnprocessableError } from '../lib/errors.ts';

/** How long a stored answer is repeated. */
export const KEEP_HOURS = 24;
const BATCH = 1_000;

/** One use of an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header). Keys belong to a user of an account. */
export interface KeyUse {
  clientId: number;
  userId: number;
  key: string;
  /** Identifies the request that used the key. */
  fingerprint: Buffer;
  requestId: string;
}

/** Columns that identify a key. */
const namesOf = ({ clientId, userId, key }: KeyUse) => ({ client_id: clientId, user_id: userId, key });

export interface Answer {
  status: number;
  body: string;
}

/** Passwords are left out: a hash of a short text that is stored for a day could be guessed. */
export function fingerprintOf(method: string, url: string, body: unknown): Buffer {
  return createHash('sha256')
    .update(
      `${method} ${url}\n${JSON.stringify(body ?? null, (name, value) => (name === 'password' ? undefined : value))}`,
    )
    .digest();
}

/**
 * Returns the earlier answer to this request, if there was one.
 * @throws UnprocessableError if the key was used for another request, ConflictError if the request was
 * carried out but its answer is unknown
 */
export async function answerBefore(db: Sql, use: KeyUse, now: Date): Promise<Answer | undefined> {
  const row = await db
    .selectFrom('idempotency_keys')
    .select(['fingerprint', 'request_id', 'status', 'body'])
    .where((row) => row.and(namesOf(use)))
    .where('expires_at', '>', now)
    .executeTakeFirst();
  if (!row) return undefined;
  if (!row.fingerprint.equals(use.fingerprint)) {
    throw new UnprocessableError('This Idempotency-Key was used for another request; use a new key for a new request');
  }
  if (row.status === null || row.body === null) {
    throw new ConflictError(
      `Request ${row.request_id} with this Idempotency-Key was carried out, but its answer was not kept; read what it created instead of repeating it`,
    );
  }
  return { status: row.status, body: row.body };
}

/** Takes the key for a request that is being carried out. @throws ConflictError if another request took it meanwhile */
export async function takeKey(tx: Transaction, use: KeyUse, now: Date): Promise<void> {
  if (await insertKey(tx.sql, use, now, null)) return;
  throw new ConflictError('A request with this Idempotency-Key has just been carried out; repeat it to get its answer');
}

/** Stores the answer of the request that took the key, or of one that had nothing to carry out. */
export async function keepAnswer(
  db: Sql,
  use: KeyUse,
  { answer, taken, now }: { answer: Answer; taken: boolean; now: Date },
): Promise<void> {
  if (!taken) {
    await insertKey(db, use, now, answer);
    return;
  }
  await db
    .updateTable('idempotency_keys')
    .set(answer)
    .where((row) => row.and(namesOf(use)))
    .execute();
}

/** Deletes all of them, in batches. */
export async function forgetExpiredKeys(db: Sql, now: Date): Promise<void> {
  for (let removed = BATCH; removed === BATCH; ) {
    const { numAffectedRows } = await sql`
      delete from idempotency_keys where ctid = any(array(
        select ctid from idempotency_keys where expires_at <= ${now} limit ${BATCH} for update skip locked))`.execute(
      db,
    );
    removed = Number(numAffectedRows);
  }
}

/** Waits for a transaction that is inserting the same key. Returns false if a valid key exists. */
async function insertKey(db: Sql, use: KeyUse, now: Date, answer: Answer | null): Promise<boolean> {
  const content = {
    fingerprint: use.fingerprint,
    request_id: use.requestId,
    status: answer?.status ?? null,
    body: answer?.body ?? null,
    expires_at: new Date(now.getTime() + KEEP_HOURS * 3_600_000),
  };
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('idempotency_keys')
    .values({ ...namesOf(use), ...content })
    .onConflict((conflict) =>
      conflict
        .columns(['client_id', 'user_id', 'key'])
        .doUpdateSet(content)
        .where('idempotency_keys.expires_at', '<=', now),
    )
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}
