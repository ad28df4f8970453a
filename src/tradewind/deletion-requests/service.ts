import { type Database, type Transaction, violates } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { ConflictError } from '../../lib/errors.ts';
import { forPeople, isoMicros } from '../../lib/timestamps.ts';
import type { MailData } from '../../mail/kinds.ts';
import type { Mailer } from '../../mail/mailer.ts';
import { subscribersOf } from '../../mail/receivers.ts';
import type { Principal } from '../../requests/principal.ts';
import type { DeletionRequest, RequestDeletion } from './schema.ts';
import * as store from './store.ts';

/** How an account asks its reseller to delete it. Nothing is deleted by that. */
export interface DeletionRequests {
  get(principal: Principal): Promise<DeletionRequest>;
  /** Tells those whom the reseller's settings name. @throws ConflictError if it was asked for already */
  make(principal: Principal, request: RequestDeletion): Promise<DeletionRequest>;
  /** Does the same, if there was a request. */
  withdraw(principal: Principal): Promise<void>;
}

export function createDeletionRequests(deps: {
  database: Database;
  clock: Clock;
  mailer: Mailer;
}): DeletionRequests {
  const { database, clock, mailer } = deps;

  async function tell(
    tx: Transaction,
    { clientId, userId }: Principal,
    told: Pick<MailData['deletion_request'], 'event' | 'reason'>,
  ): Promise<void> {
    const data = { ...told, user: await store.addressOf(tx, userId), time: forPeople(clock.now()) };
    const subscribers = await subscribersOf(tx, [clientId], 'deletion_request');
    await mailer.queue(
      tx,
      subscribers.map(({ email: to, id }) => ({
        kind: 'deletion_request',
        to,
        clientId,
        data: { ...data, setting: String(id) },
      })),
    );
  }

  return {
    async get({ clientId }) {
      return presented(clientId, await store.findRequest(database.sql, clientId));
    },

    async make(principal, { reason = '' }) {
      const { clientId: client_id, userId: user_id } = principal;
      const row = { client_id, user_id, reason, created_at: clock.now() };
      try {
        await database.accept(principal, async (tx) => {
          await store.insertRequest(tx, row);
          principal.writes?.made(client_id);
          await tell(tx, principal, { event: 'requested', reason });
        });
      } catch (error) {
        if (!violates(error, 'deletion_requests_pkey')) throw error;
        throw new ConflictError(`The deletion of client ${client_id} has been asked for already`);
      }
      return presented(client_id, row);
    },

    async withdraw(principal) {
      await database.accept(principal, async (tx) => {
        principal.writes?.made(principal.clientId);
        const row = await store.deleteRequest(tx, principal.clientId);
        if (row) await tell(tx, principal, { event: 'withdrawn', reason: row.reason });
      });
    },
  };
}

function presented(clientId: number, row: store.DeletionRequestRow | undefined): DeletionRequest {
  return {
    client_id: clientId,
    requested_at: row ? isoMicros(row.created_at) : null,
    user_id: row?.user_id ?? null,
    reason: row?.reason ?? null,
  };
}
