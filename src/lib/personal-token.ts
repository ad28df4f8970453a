import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A text that lets one person do something. The number is the ID of the user, account or setting, and is no secret. */
export interface PersonalToken {
  id: number;
  text: string;
  secretHash: Buffer;
}

type Purpose = 'challenge' | 'invitation' | 'reset' | 'deletion' | 'subscription';

export function newPersonalToken(
  purpose: Purpose,
  id: number,
  secret: string = randomBytes(32).toString('hex'),
): PersonalToken {
  return { id, text: `${purpose}_${id}_${secret}`, secretHash: hashOf(secret) };
}

export function readPersonalToken(purpose: Purpose, text: string): PersonalToken | undefined {
  const [, found, id, secret] = /^([a-z]{1,20})_(\d{1,15})_([0-9a-f]{64})$/.exec(text) ?? [];
  if (found !== purpose || id === undefined || secret === undefined) return undefined;
  return { id: Number(id), text, secretHash: hashOf(secret) };
}

export function isToken({ secretHash }: PersonalToken, kept: Buffer): boolean {
  return timingSafeEqual(secretHash, kept);
}

const hashOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');
