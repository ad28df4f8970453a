import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A text that lets one person do something once. The number says who, and is no secret. */
export interface PersonalToken {
  userId: number;
  text: string;
  secretHash: Buffer;
}

type Purpose = 'invitation' | 'reset';

export function newPersonalToken(purpose: Purpose, userId: number): PersonalToken {
  const secret = randomBytes(32).toString('hex');
  return { userId, text: `${purpose}_${userId}_${secret}`, secretHash: hashOf(secret) };
}

export function readPersonalToken(purpose: Purpose, text: string): PersonalToken | undefined {
  const [, found, userId, secret] = /^([a-z]{1,20})_(\d{1,15})_([0-9a-f]{64})$/.exec(text) ?? [];
  if (found !== purpose || userId === undefined || secret === undefined) return undefined;
  return { userId: Number(userId), text, secretHash: hashOf(secret) };
}

export function isToken({ secretHash }: PersonalToken, kept: Buffer): boolean {
  return timingSafeEqual(secretHash, kept);
}

const hashOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');
