import { randomBytes } from 'node:crypto';
import { secretHash } from '../identity/service.ts';

/**
 * The text with which an invited person joins, once. The number serves to find the invitation and is no
 * secret.
 */
export interface InvitationToken {
  userId: number;
  text: string;
  secretHash: Buffer;
}

export function newInvitationToken(userId: number): InvitationToken {
  const secret = randomBytes(32).toString('hex');
  return { userId, text: `invitation_${userId}_${secret}`, secretHash: secretHash(secret) };
}

export function readInvitationToken(text: string): InvitationToken | undefined {
  const [, userId, secret] = /^invitation_(\d{1,15})_([0-9a-f]{64})$/.exec(text) ?? [];
  if (userId === undefined || secret === undefined) return undefined;
  return { userId: Number(userId), text, secretHash: secretHash(secret) };
}
