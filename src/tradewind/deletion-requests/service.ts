import type { Insertable, Selectable } from 'kysely';
import { type Sql, type Transaction, violates } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { ConflictError } from '../../lib/errors.ts';
import { forPeople, isoMicros } from '../../lib/time.ts';
import type { MailData } from '../../mail/kinds.ts';
import { subscribersOf } from '../../mail/receivers.ts';
import type { Platform } from '../../platform.ts';
import type { Principal } from '../../requests/principal.ts';
import type { DeletionRequest, RequestDeletion } from './schema.ts';

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

async function tell(
  on: Platform,
  tx: Transaction,
  { clientId, userId }: Principal,
  told: Pick<MailData['deletion_request'], 'event' | 'reason'>,
): Promise<void> {
  const data = { ...told, user: await addressOf(tx, userId), time: forPeople(tx.now) };
  const subscribers = await subscribersOf(tx, [clientId], 'deletion_request');
  await on.mailer.queue(
    tx,
    subscribers.map(({ email: to, id }) => ({
      kind: 'deletion_request',
      to,
      clientId,
      data: { ...data, setting: String(id) },
    })),
  );
}

export async function getDeletionRequest(on: Platform, { clientId }: Principal): Promise<DeletionRequest> {
  return presented(clientId, await findRequest(on.database.sql, clientId));
}

/** Tells those whom the reseller's settings name. @throws ConflictError if it was asked for already */
export async function makeDeletionRequest(
  on: Platform,
  principal: Principal,
  { reason = '' }: RequestDeletion,
): Promise<DeletionRequest> {
  const { clientId: client_id, userId: user_id } = principal;
  const row = { client_id, user_id, reason, created_at: on.clock.now() };
  try {
    await on.database.accept(async (tx) => {
      await insertRequest(tx, row);
      tx.made(client_id);
      await tell(on, tx, principal, { event: 'requested', reason });
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

function presented(clientId: number, row: DeletionRequestRow | undefined): DeletionRequest {
  return {
    client_id: clientId,
    requested_at: row ? isoMicros(row.created_at) : null,
    user_id: row?.user_id ?? null,
    reason: row?.reason ?? null,
  };
}

/** Forgets that an account asked to be deleted, if it did. */
export async function forgetRequestOf(tx: Transaction, clientId: number): Promise<void> {
  await deleteRequest(tx, clientId);
}
