import { randomUUID } from 'node:crypto';
import {
  type CryptoKey,
  errors,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from 'jose';
import type { Database } from '../../db/database.ts';
import { UnauthenticatedError } from '../../lib/errors.ts';
import { onOwnBehalf } from '../../lib/request-context.ts';
import type { Clock } from '../../lib/time.ts';
import type { Secrets } from '../../secrets/secrets.ts';

const ALGORITHM = 'ES256';
const ISSUER = 'tradewind';
/** How often to look for an unknown key. */
const RELOAD_MS = 10_000;

export type SignedTokenType = 'access' | 'refresh';

/** The claims of a login's tokens. Rights are not read from here but from the database. */
export interface SignedTokenClaims {
  loginId: number;
  /**
   * The login's key, which never comes again: a reset or a restored backup gives the number to another login. Undefined in
   * tokens of the previous release.
   */
  loginKey?: string | undefined;
  id: string;
  /** The refresh token of an access token's pair. */
  refreshId?: string | undefined;
}

/** JSON Web Tokens of logins, signed with a key that all processes share. */
export interface SignedTokens {
  sign(type: SignedTokenType, token: SignedTokenClaims, claims: JWTPayload, expiresAt: Date): Promise<string>;
  /** @throws UnauthenticatedError for a token that isn't ours, is of the other type, or has expired */
  read(type: SignedTokenType, text: string): Promise<SignedTokenClaims>;
  /** Signs what its bearer may do until then without other credentials. It is no token of a login. */
  signTicket(purpose: string, claims: JWTPayload, expiresAt: Date): Promise<string>;
  /** @throws UnauthenticatedError for a ticket that isn't ours, is for something else, or has expired */
  readTicket(purpose: string, text: string): Promise<JWTPayload>;
}

interface Deps {
  database: Database;
  clock: Clock;
  secrets: Secrets;
}

/** Makes the signing key if there is none. Several processes may do this at once. */
export async function ensureSigningKey({ database, clock, secrets }: Deps): Promise<void> {
  const found = () => database.sql.selectFrom('signing_keys').select('id').limit(1).executeTakeFirst();
  if (await found()) return;
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const id = randomUUID();
  const jwk = secrets.seal('signing_keys.jwk', [id], await exportJWK(privateKey));
  await database.transaction(async ({ client, sql }) => {
    await client.query(`select pg_advisory_xact_lock(hashtextextended('tradewind signing key', 0))`);
    if (await found()) return;
    await sql.insertInto('signing_keys').values({ id, jwk, created_at: clock.now() }).execute();
  });
}

interface SigningKey {
  id: string;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
}

export function createSignedTokens({ database, clock, secrets }: Deps): SignedTokens {
  let keys = new Map<string, SigningKey>();
  let loading: Promise<void> | undefined;
  let loadedAt = Number.NEGATIVE_INFINITY;

  async function load(): Promise<void> {
    const rows = await database.sql
      .selectFrom('signing_keys')
      .select(['id', 'jwk'])
      .orderBy('created_at', 'desc')
      .execute();
    keys = new Map(
      await Promise.all(
        rows.map(async ({ id, jwk }) => {
          const opened = await secrets.open<JWK>('signing_keys.jwk', [id], jwk);
          return [id, await keyOf(id, opened)] as const;
        }),
      ),
    );
    loadedAt = performance.now();
  }

  /** Requests of any account wait for it. */
  const reload = () => onOwnBehalf(load);

  /** Strangers can name any key, and new keys are rare, so all of them share one occasional look. */
  async function keyNamed(id: string): Promise<SigningKey | undefined> {
    if (!keys.has(id) && performance.now() - loadedAt > RELOAD_MS) {
      loading ??= reload().finally(() => {
        loading = undefined;
      });
      await loading;
    }
    return keys.get(id);
  }

  async function newestKey(): Promise<SigningKey> {
    if (keys.size === 0) await reload();
    const [newest] = keys.values();
    if (!newest) throw new Error('There is no key to sign with');
    return newest;
  }

  async function signed(claims: JWTPayload, expiresAt: Date): Promise<string> {
    const key = await newestKey();
    return new SignJWT(claims)
      .setProtectedHeader({ alg: ALGORITHM, kid: key.id, typ: 'JWT' })
      .setIssuer(ISSUER)
      .setIssuedAt(clock.now())
      .setExpirationTime(expiresAt)
      .sign(key.privateKey);
  }

  async function verified(text: string, requiredClaims: string[]): Promise<JWTPayload> {
    const options = { algorithms: [ALGORITHM], issuer: ISSUER, currentDate: clock.now(), requiredClaims };
    const keyOfToken = async ({ kid = '' }) => {
      const key = await keyNamed(kid);
      if (!key) throw invalid(OF_ANOTHER);
      return key.publicKey;
    };
    return (await jwtVerify(text, keyOfToken, options)).payload;
  }

  return {
    // The previous release reads the number alone.
    sign: (type, { loginId, loginKey, id, refreshId }, claims, expiresAt) =>
      signed({ ...claims, token_type: type, sid: loginId, login: loginKey, rjti: refreshId, jti: id }, expiresAt),

    signTicket: (purpose, claims, expiresAt) => signed({ ...claims, ticket: purpose }, expiresAt),

    async readTicket(purpose, text) {
      const payload = await verified(text, ['exp', 'ticket']).catch((error: unknown) => {
        throw error instanceof errors.JOSEError ? invalid(NO_TICKET) : error;
      });
      if (payload.ticket !== purpose) throw invalid(NO_TICKET);
      return payload;
    },

    async read(type, text) {
      try {
        const payload = await verified(text, ['exp', 'jti', 'sid']);
        const { token_type: given, sid, login, rjti, jti } = payload;
        if (given !== type) {
          throw new UnauthenticatedError('Given token not valid for any token type', true, WRONG_TYPE[type]);
        }
        if (typeof sid !== 'number' || jti === undefined) throw invalid(OF_ANOTHER);
        return { loginId: sid, loginKey: textIn(login), id: jti, refreshId: textIn(rjti) };
      } catch (error) {
        if (error instanceof errors.JWTExpired) throw invalid(EXPIRED[type]);
        throw error instanceof errors.JOSEError ? invalid(OF_ANOTHER) : error;
      }
    },
  };
}

const textIn = (claim: unknown): string | undefined => (typeof claim === 'string' ? claim : undefined);

async function keyOf(id: string, jwk: JWK): Promise<SigningKey> {
  const { d: _private, ...open } = jwk;
  return { id, privateKey: await imported(jwk), publicKey: await imported(open) };
}

async function imported(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, ALGORITHM);
  if (key instanceof Uint8Array) throw new Error('The signing key is not an elliptic curve key');
  return key;
}

const OF_ANOTHER =
  'This is not a login token of this server, or part of it is missing; log in with POST /iam/auth/jwt/login.';
const NO_TICKET = 'It is good for a minute; ask for another one.';
const WRONG_TYPE = {
  access: 'This is a refresh token: send it to POST /iam/auth/jwt/refresh, and put the access token into the header.',
  refresh: 'This is an access token: send the refresh token of the pair instead.',
};
const EXPIRED = {
  access: 'This access token has expired; get a new pair from POST /iam/auth/jwt/refresh.',
  refresh: 'This refresh token has expired; log in again with POST /iam/auth/jwt/login.',
};

function invalid(hint: string): UnauthenticatedError {
  return new UnauthenticatedError('Token is invalid or expired', true, hint);
}
