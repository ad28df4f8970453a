import { Secret, TOTP } from 'otpauth';
import type { Transaction } from '../../../db/database.ts';
import { ConflictError, InvalidError } from '../../../lib/errors.ts';
import type { Platform } from '../../../platform.ts';
import type { AddPasskey, PasskeyAnswer, Totp } from './schema.ts';
import * as store from './store.ts';

/* Codes of apps (RFC 6238) and passkeys (WebAuthn). */

const SECRET_BYTES = 20;
/** Steps before and after the present one whose codes are accepted: clocks differ. */
const WINDOW = 1;

const appOf = (secret: Secret, issuer: string, label: string) =>
  new TOTP({ secret, issuer, label, algorithm: 'SHA1', digits: 6, period: 30 });

/** Begins to set an app up; until its first code it is no factor. @throws ConflictError if the user has one */
export async function beginTotp(
  on: Platform,
  tx: Transaction,
  user: { id: number; email: string },
  factor: { id: string; name: string },
): Promise<Totp> {
  if (await store.lockTotp(tx, user.id, true)) {
    throw new ConflictError('You have an app that makes codes already; remove it first');
  }
  const secret = new Secret({ size: SECRET_BYTES });
  const sealed = on.secrets.seal('second_factors.secret', [factor.id], secret.base32);
  await store.insertTotp(tx, { ...factor, userId: user.id, secret: sealed });
  const { publicUrl } = on.letterhead();
  const issuer = publicUrl === undefined ? 'Tradewind' : `Tradewind ${new URL(publicUrl).hostname}`;
  return { secret: secret.base32, uri: appOf(secret, issuer, user.email).toString() };
}

/**
 * Whether that is the code of the user's app. Each step is accepted once, so that nobody uses a code again; two requests at
 * once wait for each other. With `confirmed: false`, it is the first code of an app that is being set up.
 */
export async function isRightCode(
  on: Platform,
  tx: Transaction,
  userId: number,
  code: string,
  { confirmed = true } = {},
): Promise<boolean> {
  const app = await store.lockTotp(tx, userId, confirmed);
  if (!app || app.secret === null) return false;
  const secret = Secret.fromBase32(await on.secrets.open('second_factors.secret', [app.id], app.secret));
  const timestamp = on.clock.now().getTime();
  const delta = TOTP.validate({ secret, token: code, timestamp, window: WINDOW });
  if (delta === null) return false;
  const step = TOTP.counter({ timestamp }) + delta;
  if (app.last_step !== null && step <= app.last_step) return false;
  await store.noteStep(tx, app.id, step);
  return true;
}

const NEEDS = 'Passkeys need TRADEWIND_PUBLIC_URL: the https address of the console, with a name. Its operator sets it';

/** Loaded by the first passkey: most processes never see one. */
const library = () => import('@simplewebauthn/server');

/** Passkeys belong to the name in the public address, and pages there use them. Undefined if there can be none. */
function siteOf(on: Platform): { rpID: string; origin: string } | undefined {
  const { publicUrl } = on.letterhead();
  const { protocol, hostname, origin } = new URL(publicUrl ?? 'http://none.invalid');
  const isName = !/^[\d.]+$|:/.test(hostname);
  if (!isName || (protocol !== 'https:' && hostname !== 'localhost')) return undefined;
  return { rpID: hostname, origin };
}

export const hasPasskeys = (on: Platform): boolean => siteOf(on) !== undefined;

/** @throws ConflictError if this server can have no passkeys */
function requireSite(on: Platform) {
  const site = siteOf(on);
  if (!site) throw new ConflictError(NEEDS);
  return site;
}

type Known = Pick<Awaited<ReturnType<typeof store.factorsOf>>[number], 'credential_id' | 'transports'>;
const credentialsOf = (factors: readonly Known[]) =>
  factors.flatMap(({ credential_id: id, transports }) =>
    id === null ? [] : [{ id, ...(transports && { transports }) }],
  );

/** @throws ConflictError */
export async function optionsToAdd(on: Platform, user: { id: number; email: string }, factors: readonly Known[]) {
  const { rpID } = requireSite(on);
  const { generateRegistrationOptions } = await library();
  return generateRegistrationOptions({
    rpName: 'Tradewind',
    rpID,
    userID: Uint8Array.from(Buffer.from(`tradewind ${user.id}`)),
    userName: user.email,
    excludeCredentials: credentialsOf(factors),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  });
}

/** @throws ConflictError */
export async function optionsToLogIn(on: Platform, factors: readonly Known[]) {
  const { rpID } = requireSite(on);
  const { generateAuthenticationOptions } = await library();
  return generateAuthenticationOptions({
    rpID,
    allowCredentials: credentialsOf(factors),
    userVerification: 'preferred',
  });
}

/** Returns a new passkey. `take` uses the challenge up that it answers. @throws InvalidError, ConflictError */
export async function readNewPasskey(
  on: Platform,
  { passkey }: AddPasskey,
  take: (challenge: string) => Promise<boolean>,
) {
  const { rpID, origin } = requireSite(on);
  const { verifyRegistrationResponse } = await library();
  const { clientExtensionResults: _, authenticatorAttachment: __, response, ...rest } = passkey;
  const { clientDataJSON, attestationObject, transports } = response;
  const result = await verifyRegistrationResponse({
    response: { ...rest, response: { clientDataJSON, attestationObject }, clientExtensionResults: {} },
    expectedChallenge: take,
    expectedOrigin: origin,
    expectedRPID: rpID,
    requireUserVerification: false,
  }).catch((error: unknown) => {
    on.log.debug({ err: error }, 'A new passkey was refused');
    return undefined;
  });
  if (!result?.verified) {
    throw new InvalidError({
      passkey: ['It does not answer the last options, or comes from another page; try again.'],
    });
  }
  const { id, publicKey, counter } = result.registrationInfo.credential;
  return { credential_id: id, public_key: Buffer.from(publicKey), counter, transports: transports ?? null };
}

/** Whether a passkey of the user has answered that challenge, on a page of this server. */
export async function isRightPasskey(
  on: Platform,
  tx: Transaction,
  userId: number,
  answer: PasskeyAnswer,
  challenge: string | null,
): Promise<boolean> {
  const known = await store.lockPasskey(tx, userId, answer.id);
  if (challenge === null || !known || known.public_key === null) return false;
  const { rpID, origin } = requireSite(on);
  const { verifyAuthenticationResponse } = await library();
  const { clientDataJSON, authenticatorData, signature } = answer.response;
  const result = await verifyAuthenticationResponse({
    response: {
      id: answer.id,
      rawId: answer.rawId,
      type: answer.type,
      response: { clientDataJSON, authenticatorData, signature },
      clientExtensionResults: {},
    },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpID,
    credential: {
      id: answer.id,
      publicKey: Uint8Array.from(known.public_key),
      counter: known.counter ?? 0,
      ...(known.transports && { transports: known.transports }),
    },
    requireUserVerification: false,
  }).catch((error: unknown) => {
    on.log.debug({ err: error }, 'A passkey was refused');
    return undefined;
  });
  if (!result?.verified) return false;
  await store.noteCounter(tx, known.id, result.authenticationInfo.newCounter);
  return true;
}
