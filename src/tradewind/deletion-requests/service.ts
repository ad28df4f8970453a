import type { Insertable, Selectable } from 'kysely';
import { type Sql, type Transaction, violates } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { ConflictError, InvalidError } from '../../lib/errors.ts';
import { isToken, newPersonalToken, type PersonalToken, readPersonalToken } from '../../lib/personal-token.ts';
import { forPeople, isoMicros } from '../../lib/time.ts';
import type { MailData } from '../../mail/kinds.ts';
import { subscribersOf } from '../../mail/receivers.ts';
import type { Platform } from '../../platform.ts';
import type { Principal } from '../../requests/principal.ts';
import type { ConfirmDeletion, DeletionRequest, RequestDeletion } from './schema.ts';

export type DeletionRequestRow = Selectable<Tables['deletion_requests']>;

export async function findRequest(db: Sql, clientId: number): Promise<DeletionRequestRow | undefined> {
  return db.selectFrom('deletion_requests').selectAll().where('client_id', '=', clientId).executeTakeFirst();
}

export async function insertRequest(tx: Transaction, request: Insertable<Tables['deletion_requests']>): Promise<void> {
  await tx.sql.insertInto('deletion_requests').values(request).execute();
}

/** Returns undefined if there was none. */
export async function deleteRequest(tx: Transaction, clientId: number): Promise<DeletionRequestRow | undefined> {
  return tx.sql.deleteFrom('deletion_requests').where('client_id', '=', clientId).returningAll().executeTakeFirst();
}

export async function addressOf(tx: Transaction, userId: number): Promise<string> {
  const user = await tx.sql.selectFrom('users').select('email').where('id', '=', userId).executeTakeFirstOrThrow();
  return user.email;
}

/* How an account asks its reseller to delete it. Nothing is deleted by that. */

const CONFIRM_WITHIN_MS = 48 * 3_600_000;

async function tell(
  on: Platform,
  tx: Transaction,
  { clientId, userId }: { clientId: number; userId: number },
  told: Pick<MailData['deletion_request'], 'event' | 'reason'>,
): Promise<void> {
  const data = { ...told, user: await addressOf(tx, userId), time: forPeople(tx.now) };
  const subscribers = await subscribersOf(tx, [clientId], 'deletion_request');
  await on.mailer.queue(
    tx,
    subscribers.map(({ email: to, id, key }) => ({
      kind: 'deletion_request',
      to,
      clientId,
      data: { ...data, setting: String(id), key },
    })),
  );
}

export async function getDeletionRequest(on: Platform, { clientId }: Principal): Promise<DeletionRequest> {
  return presented(clientId, await findRequest(on.database.sql, clientId));
}

/** Tells those whom the reseller's settings name, and the caller how to confirm it. @throws ConflictError if it was asked for already */
export async function makeDeletionRequest(
  on: Platform,
  principal: Principal,
  { reason = '' }: RequestDeletion,
): Promise<DeletionRequest> {
  const { clientId: client_id, userId: user_id } = principal;
  const created_at = on.clock.now();
  const confirm_until = new Date(created_at.getTime() + CONFIRM_WITHIN_MS);
  const { text: token, secretHash: secret_hash } = newPersonalToken('deletion', client_id);
  const row = { client_id, user_id, reason, created_at, secret_hash, confirm_until, confirmed_at: null };
  try {
    await on.database.accept(async (tx) => {
      await insertRequest(tx, row);
      tx.made(client_id);
      await tell(on, tx, principal, { event: 'requested', reason });
      await on.mailer.queue(tx, [
        {
          kind: 'deletion_confirmation',
          to: await addressOf(tx, user_id),
          clientId: client_id,
          data: { token, expires: forPeople(confirm_until) },
          until: confirm_until,
        },
      ]);
    });
  } catch (error) {
    if (!violates(error, 'deletion_requests_pkey')) throw error;
    throw new ConflictError(`The deletion of client ${client_id} has been asked for already`);
  }
  return presented(client_id, row);
}

/** Does the same, if there was a request. */
export async function withdrawDeletionRequest(on: Platform, principal: Principal): Promise<void> {
  await on.database.accept(async (tx) => {
    tx.made(principal.clientId);
    const row = await deleteRequest(tx, principal.clientId);
    if (row) await tell(on, tx, principal, { event: 'withdrawn', reason: row.reason });
  });
}

/** @throws InvalidError for a token that isn't valid */
export async function confirmDeletionRequest(on: Platform, { token: text }: ConfirmDeletion): Promise<void> {
  const token = readPersonalToken('deletion', text);
  await on.database.transaction(async (tx) => {
    const request = token && (await findConfirmable(tx.sql, token, tx.now));
    if (!request)
      throw new InvalidError({ token: ['Not valid: the request was taken back, or the token has expired.'] });
    const { client_id: clientId, user_id: userId, reason } = request;
    const { numUpdatedRows } = await tx.sql
      .updateTable('deletion_requests')
      .set({ confirmed_at: tx.now })
      .where('client_id', '=', clientId)
      .where('secret_hash', '=', request.secret_hash)
      .where('confirmed_at', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows > 0n) await tell(on, tx, { clientId, userId }, { event: 'confirmed', reason });
  });
}

/** Returns the request that the token confirms. */
async function findConfirmable(db: Sql, token: PersonalToken, now: Date): Promise<DeletionRequestRow | undefined> {
  const request = await findRequest(db, token.id);
  if (!request?.secret_hash || !request.confirm_until || request.confirm_until <= now) return undefined;
  return isToken(token, request.secret_hash) ? request : undefined;
}

function presented(
  clientId: number,
  row: Pick<DeletionRequestRow, 'created_at' | 'user_id' | 'reason' | 'confirmed_at'> | undefined,
): DeletionRequest {
  return {
    client_id: clientId,
    requested_at: row ? isoMicros(row.created_at) : null,
    user_id: row?.user_id ?? null,
    reason: row?.reason ?? null,
    confirmed_at: row?.confirmed_at ? isoMicros(row.confirmed_at) : null,
  };
}

/** Forgets that an account asked to be deleted, if it did. */
export async function forgetRequestOf(tx: Transaction, clientId: number): Promise<void> {
  await deleteRequest(tx, clientId);
}
