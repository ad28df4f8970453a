import type { Insertable } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { InvalidError } from '../../lib/errors.ts';
import { newPersonalToken, type PersonalToken } from '../../lib/personal-token.ts';
import { forPeople, isoMicros } from '../../lib/time.ts';
import type { Mailer, NewMail } from '../../mail/mailer.ts';
import type { Principal } from '../../requests/principal.ts';
import { insertUser } from '../accounts/users/in-transaction.ts';
import * as store from './invitation-store.ts';
import type { RenewedInvitation } from './schema.ts';

export const DAY_MS = 24 * 3_600_000;
/** How long an invitation is good for: that of a seller as published. */
export const VALID_MS = { user: 7 * DAY_MS, seller: DAY_MS };
/** Limits of one account: open invitations, and invitations made in a day. The platform administrator may make more. */
export const MOST_OPEN = 100;
export const MOST_A_DAY = 200;

/**
 * Inserts the row that stands for an invited person until they accept, whether they are a user already or not, and
 * queues their mail. The account must be locked.
 * @throws InvalidError for too many invitations, and for somebody who is in the account or invited into it
 */
export async function insertInvited(
  tx: Transaction,
  principal: Principal,
  user: Omit<Insertable<Tables['users']>, 'platform_administrator' | 'pending'>,
  { roleId, validMs, now, mailer }: { roleId: number; validMs: number; now: Date; mailer: Mailer },
): Promise<RenewedInvitation> {
  const { client_id: clientId, email } = user;
  const there = await store.findInAccount(tx.sql, clientId, email);
  if (there) throw alreadyThere(there, clientId);
  await requireRoom(tx, principal, clientId, now);
  const row = { ...user, platform_administrator: false, pending: true };
  const token = newPersonalToken('invitation', await insertUser(tx.sql, row, roleId));
  const expiresAt = new Date(now.getTime() + validMs);
  tx.made(token.id);
  await store.insertInvitation(tx, {
    user_id: token.id,
    client_id: clientId,
    secret_hash: token.secretHash,
    invited_by: principal.userId,
    created_at: now,
    expires_at: expiresAt,
  });
  await mailer.queue(tx, [invitationMail(email, clientId, token, expiresAt)]);
  return presentedInvitation(token, clientId, expiresAt);
}

export function invitationMail(to: string, clientId: number, token: PersonalToken, expiresAt: Date): NewMail {
  const data = { token: token.text, expires: forPeople(expiresAt) };
  return { kind: 'invitation', to, clientId, data, until: expiresAt };
}

export function presentedInvitation(token: PersonalToken, clientId: number, expiresAt: Date): RenewedInvitation {
  return {
    user_id: token.id,
    client_id: clientId,
    invitation_token: token.text,
    invitation_expires: isoMicros(expiresAt),
  };
}

async function requireRoom(tx: Transaction, principal: Principal, clientId: number, now: Date): Promise<void> {
  if (principal.platformAdministrator) return;
  const { open, recent } = await store.countInvitations(tx.sql, clientId, new Date(now.getTime() - DAY_MS));
  if (open >= MOST_OPEN) throw tooMany(`${MOST_OPEN} open invitations; take some back first`);
  if (recent >= MOST_A_DAY) throw tooMany(`made ${MOST_A_DAY} invitations in 24 hours; try again later`);
}

function alreadyThere({ id, pending }: { id: number; pending: boolean }, clientId: number): InvalidError {
  const message = pending
    ? `User ${id} has already been invited to client ${clientId}; POST /iam/auth/renew_invitation makes a new token.`
    : 'User with this email already belongs to the client.';
  return new InvalidError({ email: [message] });
}

function tooMany(what: string): InvalidError {
  return new InvalidError({ errors: [`The account has ${what}.`] });
}
