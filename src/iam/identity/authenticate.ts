import { createHash, timingSafeEqual } from 'node:crypto';
import type { ChangeFeed } from '../../db/changes.ts';
import type { Database } from '../../db/database.ts';
import { createRowCache } from '../../db/row-cache.ts';
import type { Clock } from '../../lib/clock.ts';
import { UnauthenticatedError } from '../../lib/errors.ts';
import type { Principal } from './principal.ts';
import { findTokenOwner } from './store.ts';
import { parseTokenText } from './token-text.ts';

export interface Authenticator {
  /**
   * The caller named by an `Authorization` header value: a scheme word in any letter case, one space, the token.
   * @throws UnauthenticatedError with the texts of contract 1.1
   */
  authenticate(header: string | undefined): Promise<Principal>;
  /** Call after the commit that deleted or replaced a token; `announceToken` tells the other processes. */
  forget(tokenId: number): void;
  /** When each token was last used since the last call; empties the list. */
  takeUses(): { tokenId: number; at: Date }[];
}

/** The topic on which changes of tokens are announced. */
export const TOKEN_TOPIC = 'token';

export function secretHash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

export function createAuthenticator(deps: {
  database: Database;
  changes: ChangeFeed;
  clock: Clock;
}): Authenticator {
  const owners = createRowCache(deps.changes, TOKEN_TOPIC, (id) => findTokenOwner(deps.database.sql, id));
  const uses = new Map<number, Date>();

  return {
    async authenticate(header) {
      if (!header) throw new UnauthenticatedError('Authentication credentials were not provided.', false);
      const [, word = '', rest = ''] = /^(\S+) (\S*)$/.exec(header) ?? [];
      if (word.toLowerCase() !== 'apikey') {
        throw new UnauthenticatedError('Given token not valid for any token type', true);
      }
      const token = parseTokenText(rest);
      if (!token) throw new UnauthenticatedError(`Bad token: ${/^\d{0,15}/.exec(rest)?.[0] ?? ''}`, true);
      const owner = await owners.get(token.id);
      const now = deps.clock.now();
      const valid =
        owner !== undefined &&
        timingSafeEqual(owner.secretHash, secretHash(token.secret)) &&
        (owner.expiresAt === null || owner.expiresAt > now);
      if (!valid) throw new UnauthenticatedError('Token is invalid or expired', true);
      uses.set(token.id, now);
      return owner.principal;
    },
    forget: owners.forget,
    takeUses() {
      const taken = [...uses].map(([tokenId, at]) => ({ tokenId, at }));
      uses.clear();
      return taken;
    },
  };
}
