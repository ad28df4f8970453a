import { randomUUID } from 'node:crypto';
import {
  type CryptoKey,
  errors,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from 'jose';
import type { Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { UnauthenticatedError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';

const ALGORITHM = 'ES256';
const ISSUER = 'tradewind';

export type SignedTokenType = 'access' | 'refresh';

/** What a login's tokens say of themselves. The rights are not read from here but from the database. */
export interface SignedTokenClaims {
  loginId: number;
  /** The token's own id. */
  id: string;
}

/** JSON Web Tokens of logins, signed with a key that all processes share. */
export interface SignedTokens {
  sign(type: SignedTokenType, token: SignedTokenClaims, claims: JWTPayload, expiresAt: Date): Promise<string>;
  /** @throws UnauthenticatedError for one that isn't ours, is of the other type, or has expired */
  read(type: SignedTokenType, text: string): Promise<SignedTokenClaims>;
}

/** Makes the key that signs, unless there is one. Several processes may do this at once. */
export async function ensureSigningKey(database: Database, clock: Clock): Promise<void> {
  const found = () => database.sql.selectFrom('signing_keys').select('id').limit(1).executeTakeFirst();
  if (await found()) return;
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk = JSON.stringify(await exportJWK(privateKey));
  await database.transaction(async ({ client, sql }) => {
    await client.query(`select pg_advisory_xact_lock(hashtextextended('tradewind signing key', 0))`);
    if (await found()) return;
    await sql.insertInto('signing_keys').values({ id: randomUUID(), jwk, created_at: clock.now() }).execute();
  });
}

interface SigningKey {
  id: string;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
}

export function createSignedTokens(deps: { database: Database; clock: Clock }): SignedTokens {
  const { database, clock } = deps;
  const keys = new Map<string, SigningKey>();
  let newest: SigningKey | undefined;

  async function load(id: string | undefined): Promise<SigningKey | undefined> {
    let query = database.sql.selectFrom('signing_keys').select(['id', 'jwk']);
    if (id !== undefined) query = query.where('id', '=', id);
    const row = await query.orderBy('created_at', 'desc').limit(1).executeTakeFirst();
    if (!row) return undefined;
    const { d: _private, ...open } = row.jwk;
    const key = { id: row.id, privateKey: await imported(row.jwk), publicKey: await imported(open) };
    keys.set(key.id, key);
    return key;
  }

  return {
    async sign(type, { loginId, id }, claims, expiresAt) {
      newest ??= await load(undefined);
      if (!newest) throw new Error('There is no key to sign with');
      return new SignJWT({ ...claims, token_type: type, sid: loginId })
        .setProtectedHeader({ alg: ALGORITHM, kid: newest.id, typ: 'JWT' })
        .setIssuer(ISSUER)
        .setJti(id)
        .setIssuedAt(clock.now())
        .setExpirationTime(expiresAt)
        .sign(newest.privateKey);
    },

    async read(type, text) {
      try {
        const { payload } = await jwtVerify(
          text,
          async ({ kid = '' }) => {
            const key = keys.get(kid) ?? (isUuid(kid) ? await load(kid) : undefined);
            if (!key) throw invalid();
            return key.publicKey;
          },
          {
            algorithms: [ALGORITHM],
            issuer: ISSUER,
            currentDate: clock.now(),
            requiredClaims: ['exp', 'jti', 'sid'],
          },
        );
        const { token_type: given, sid, jti } = payload;
        if (given !== type) throw new UnauthenticatedError('Given token not valid for any token type', true);
        if (typeof sid !== 'number' || jti === undefined) throw invalid();
        return { loginId: sid, id: jti };
      } catch (error) {
        throw error instanceof errors.JOSEError ? invalid() : error;
      }
    },
  };
}

async function imported(jwk: Record<string, unknown>): Promise<CryptoKey> {
  const key = await importJWK(jwk, ALGORITHM);
  if (key instanceof Uint8Array) throw new Error('The signing key is no key of an elliptic curve');
  return key;
}

function invalid(): UnauthenticatedError {
  return new UnauthenticatedError('Token is invalid or expired', true);
}
