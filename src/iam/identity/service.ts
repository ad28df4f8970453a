import { hash, timingSafeEqual } from 'node:crypto';
import type { ChangeFeed } from '../../db/changes.ts';
import type { Database, Sql } from '../../db/database.ts';
import { type Admit, createRowCache } from '../../db/row-cache.ts';
import type { Clock } from '../../lib/clock.ts';
import { type RefusedCredentials, UnauthenticatedError } from '../../lib/errors.ts';
import type { Principal } from '../../requests/principal.ts';
import { adviceOn, ENDED_LOGIN, EXPIRED_TOKEN, type Offered, SHUT_OUT, UNKNOWN_TOKEN } from './advice.ts';
import { type Credentials, LOGIN_TOPIC, TOKEN_TOPIC } from './in-transaction.ts';
import { parseTokenText } from './schema.ts';
import type { SignedTokenClaims, SignedTokens } from './signed-tokens.ts';
import { findLoginOwner, findTokenOwner } from './store.ts';

export type { SignedTokenClaims, SignedTokens } from './signed-tokens.ts';

export interface Authenticator {
  /**
   * Returns the caller of an `Authorization` header: a scheme in any letter case, one space, the token.
   * `apikey` takes an API token, `Bearer` the access token of a login. `admit` runs the database query for an
   * unknown token, or throws instead. `within` is a transaction that has changed nothing yet; without it, any connection
   * of the pool does.
   * @throws UnauthenticatedError with the published texts
   */
  authenticate(offered: Offered, admit?: Admit, within?: Sql): Promise<Principal>;
  /**
   * Call it after the commit that changed the credentials; the announcement in that commit informs the other
   * processes.
   */
  forget(credentials: Credentials): void;
  /** Returns when each token was last used since the previous call, and clears the list. */
  takeUses(): { tokenId: number; at: Date }[];
}

export function secretHash(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

export function createAuthenticator(deps: {
  database: Database;
  changes: ChangeFeed;
  clock: Clock;
  signedTokens: SignedTokens;
}): Authenticator {
  const { clock, database, changes, signedTokens } = deps;
  // Strangers can try any API token id; the id of a login is signed.
  const owners = createRowCache(changes, TOKEN_TOPIC, (id) => findTokenOwner(database.sql, id), {
    misses: true,
  });
  const logins = createRowCache(changes, LOGIN_TOPIC, (id) => findLoginOwner(database.sql, id));
  const uses = new Map<number, Date>();

  async function byApiToken(
    text: string,
    offered: Offered,
    admit: Admit | undefined,
    db: Sql,
  ): Promise<Principal> {
    const token = parseTokenText(text);
    if (!token) {
      throw new UnauthenticatedError(
        `Bad token: ${/^\d{0,15}/.exec(text)?.[0] ?? ''}`,
        true,
        adviceOn(offered),
      );
    }
    const owner = await owners.get(token.id, admit, (id) => findTokenOwner(db, id));
    // Callers who don't know the secret are told nothing more.
    if (!owner || !timingSafeEqual(owner.secretHash, secretHash(token.secret))) throw invalid(UNKNOWN_TOKEN);
    if ('shutOut' in owner) throw refused(owner, token.id);
    const now = clock.now();
    if (owner.expiresAt !== null && owner.expiresAt <= now)
      throw invalid(EXPIRED_TOKEN, { reason: 'expired', ...namesOf(owner.principal) });
    uses.set(token.id, now);
    return owner.principal;
  }

  async function byLogin(text: string, admit: Admit | undefined, db: Sql): Promise<Principal> {
    const token = await signedTokens.read('access', text);
    const login = await logins.get(token.loginId, admit, (id) => findLoginOwner(db, id));
    if (!login || !isOfLogin(token, login)) throw invalid(ENDED_LOGIN);
    if ('shutOut' in login) throw refused(login, undefined);
    if (login.expiresAt <= clock.now())
      throw invalid(ENDED_LOGIN, { reason: 'expired', ...namesOf(login.principal) });
    return login.principal;
  }

  return {
    async authenticate(offered, admit, within = database.sql) {
      const header = offered.authorization;
      if (!header) {
        throw new UnauthenticatedError(
          'Authentication credentials were not provided.',
          false,
          adviceOn(offered),
        );
      }
      const [, word = '', rest = ''] = /^(\S+) (\S*)$/.exec(header) ?? [];
      switch (word.toLowerCase()) {
        case 'apikey':
          return byApiToken(rest, offered, admit, within);
        case 'bearer':
          if (rest.split('.').length === 3) return byLogin(rest, admit, within);
      }
      throw new UnauthenticatedError('Given token not valid for any token type', true, adviceOn(offered));
    },
    forget(credentials) {
      for (const id of credentials.tokens) owners.forget(id);
      for (const id of credentials.logins) logins.forget(id);
    },
    takeUses() {
      const taken = [...uses].map(([tokenId, at]) => ({ tokenId, at }));
      uses.clear();
      return taken;
    },
  };
}

/** Tokens of the previous release have no key, but name the refresh token of their pair. Neither ever comes again. */
function isOfLogin(
  { loginKey, refreshId }: SignedTokenClaims,
  login: { key: string | null; refreshId: string },
): boolean {
  return loginKey === undefined ? refreshId === login.refreshId : loginKey === login.key;
}

function invalid(hint: string, whose?: RefusedCredentials): UnauthenticatedError {
  return new UnauthenticatedError('Token is invalid or expired', true, hint, whose);
}

function refused(
  { shutOut, clientId, userId }: { shutOut: keyof typeof SHUT_OUT; clientId: number; userId: number },
  tokenId: number | undefined,
): UnauthenticatedError {
  return invalid(SHUT_OUT[shutOut], { reason: shutOut, clientId, userId, tokenId });
}

const namesOf = ({ clientId, userId, tokenId }: Principal) => ({ clientId, userId, tokenId });
