import { createHmac, randomBytes } from 'node:crypto';
import { type Transaction, violates } from '../../../db/database.ts';
import { requireEmail } from '../../../lib/email.ts';
import * as errors from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Platform } from '../../../platform.ts';
import { ROLES } from '../../../requests/principal.ts';
import { lockClients } from '../../accounts/service.ts';
import { AddressTakenError, insertUser } from '../../accounts/users/in-transaction.ts';
import { isAbove } from '../../identity/schema.ts';
import { type Credentials, together } from '../../identity/service.ts';
import { logInVouched, makeSignInCode, recordEntry } from '../../logins/console/service.ts';
import { announceUser, endLogins } from '../../logins/in-transaction.ts';
import type { TokenPair } from '../../logins/schema.ts';
import { expireInvitations } from '../invitation-store.ts';
import * as users from '../store.ts';
import { type Begun, pageOf, type Vouched, vouched } from './conversation.ts';
import { type From, recordChange } from './records.ts';
import * as store from './store.ts';

/*
 * Signing in: the browser goes to the provider with a state, and comes back with the state and a code. The state works once, for ten
 * minutes, and only in the browser that has the cookie. The nonce and the PKCE verifier are made of the cookie, so the database knows
 * none of them.
 */

export const CALLBACK = '/tradewind/v1/sign_in/callback';
const MOST_PEOPLE = 10_000;

function madeOf(browser: string): Begun {
  const made = (what: string) => createHmac('sha256', browser).update(what).digest('base64url');
  return { nonce: made('nonce'), verifier: made('verifier') };
}

/** @throws ConflictError */
function callbackOf(on: Platform): string {
  const { publicUrl } = on.letterhead();
  if (publicUrl === undefined) {
    throw new errors.ConflictError('The operator has to set TRADEWIND_PUBLIC_URL before anybody can sign in so');
  }
  return `${publicUrl}${CALLBACK}`;
}

/** Returns where the browser goes, and what its cookie is. @throws NotFoundError, ConflictError, ForbiddenError, UnavailableError */
export async function startSignIn(on: Platform, providerId: string): Promise<{ url: string; browser: string }> {
  const provider = isUuid(providerId) ? await store.findEnabled(on.database.sql, providerId) : undefined;
  if (!provider) throw new errors.NotFoundError('Identity provider', providerId);
  const redirectUri = callbackOf(on);
  const browser = randomBytes(32).toString('base64url');
  const state = await on.database.transaction((tx) => store.insertState(tx, provider.id, browser));
  const url = await pageOf(on, provider, { ...madeOf(browser), state, redirectUri });
  return { url, browser };
}

const notBegun = () =>
  new errors.InvalidError({
    state: [
      'This sign-in was not begun in this browser, was finished already, or is older than ten minutes. Begin again.',
    ],
  });

/** @throws InvalidError, ForbiddenError, UnavailableError */
export async function finishSignIn(
  on: Platform,
  { query, browser }: { query: URLSearchParams; browser: string | undefined },
  from: From,
): Promise<{ url: string } | { pair: TokenPair }> {
  const state = query.get('state');
  if (state === null || browser === undefined) throw notBegun();
  const providerId = await on.database.transaction((tx) => store.takeState(tx, state, browser));
  const provider = providerId === undefined ? undefined : await store.findEnabled(on.database.sql, providerId);
  if (!provider) throw notBegun();
  const answer = new URL(`${callbackOf(on)}?${query}`);
  const person = await vouched(on, provider, { ...madeOf(browser), state, answer });

  const admit = () => on.database.transaction((tx) => admitted(on, tx, provider, person, from));
  const done = await on.guesses.withAddress(provider.created_by, admit);
  on.authenticator.forget(done.changed);
  if ('refused' in done) throw new errors.ForbiddenError(done.refused);
  const { userId, clientId } = done;
  if (!on.console) return { pair: await logInVouched(on, { userId, clientId, providerId: provider.id }) };
  const code = await on.database.transaction((tx) =>
    makeSignInCode(tx, { userId, clientId, providerId: provider.id, browser }),
  );
  return { url: `${on.letterhead().publicUrl ?? ''}/console/#code=${code}` };
}

type Admitted = { changed: Credentials } & ({ refused: string } | { userId: number; clientId: number });

/** Lets a person in as the provider's groups say, or takes away what they no longer say. What is taken away stays so. */
async function admitted(
  on: Platform,
  tx: Transaction,
  asked: Pick<store.ProviderRow, 'id' | 'issuer' | 'oidc_client_id'>,
  person: Vouched,
  from: From,
): Promise<Admitted> {
  const providerId = asked.id;
  const before = await store.findEnabled(tx.sql, providerId);
  const known = before && (await store.findIdentity(tx.sql, providerId, person.subject));
  if (!before) throw notBegun();
  const places = known ? await store.placesOf(tx.sql, known.id, before) : [];
  const locked = [...before.groups, ...places].map(({ client_id }) => client_id);
  await lockClients(tx, [...new Set(before.client_id === null ? locked : [...locked, before.client_id])]);
  const provider = await store.keepEnabled(tx, providerId);
  // What another issuer has said counts no more.
  const isSame = provider?.issuer === asked.issuer && provider.oidc_client_id === asked.oidc_client_id;
  if (!provider || !isSame) throw notBegun();
  if (known) await users.lockUser(tx, known.id);
  const wanted = await wantedOf(tx, provider, person.groups);
  const identity = await store.findIdentity(tx.sql, providerId, person.subject);
  if (identity && !identity.deleted_at) return updated(on, tx, provider, { ...identity, person, wanted }, from);
  if (identity) await store.deleteIdentity(tx, providerId, person.subject);
  return newcomer(on, tx, provider, { person, wanted }, from);
}

/** Returns the accounts that a person may enter, with the highest role of their groups. */
async function wantedOf(tx: Transaction, provider: store.ProviderRow, groups: readonly string[]) {
  const wanted = new Map<number, number>();
  for (const { group, role_id, client_id } of provider.groups) {
    const known = wanted.get(client_id);
    if (groups.includes(group) && (known === undefined || isAbove(role_id, known))) wanted.set(client_id, role_id);
  }
  if (provider.client_id !== null) {
    if (wanted.size === 0 && provider.default_role_id !== null)
      wanted.set(provider.client_id, provider.default_role_id);
    return wanted;
  }
  // A client may have another reseller by now.
  const still = await store.clientsOf(tx.sql, provider.reseller_id ?? 0, [...wanted.keys()]);
  return new Map([...wanted].filter(([id]) => still.includes(id)));
}

const NOTHING: Credentials = { tokens: [], logins: [] };
const NO_GROUP = 'None of your groups may use this. Ask the administrator of your account';
const BLOCKED = 'An administrator has blocked you';
const BEYOND = 'You have rights beyond accounts, which no company can give: log in with your password';
const OTHER_DOMAIN = 'Your company has not confirmed your e-mail address, or it is of another domain than allowed';

/** @throws AddressTakenError */
async function newcomer(
  on: Platform,
  tx: Transaction,
  provider: store.ProviderRow,
  { person, wanted }: { person: Vouched; wanted: ReadonlyMap<number, number> },
  from: From,
): Promise<Admitted> {
  const { email = '', subject } = person;
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  const isAllowed = person.emailVerified && email.includes('@') && provider.email_domains.includes(domain);
  if (!isAllowed || subject.length > 255) return { changed: NOTHING, refused: OTHER_DOMAIN };
  requireEmail(email);
  const [first, ...others] = [...wanted].map(([client_id, role_id]) => ({ client_id, role_id }));
  if (!first) return { changed: NOTHING, refused: NO_GROUP };
  if (await store.hasIdentities(tx.sql, provider.id, MOST_PEOPLE)) {
    return { changed: NOTHING, refused: `${MOST_PEOPLE} people came by this provider, which is the most` };
  }
  const known = await store.findByAddress(tx.sql, email);
  if (known) {
    const places = await store.placesOf(tx.sql, known.id, provider);
    const isOwn = known.client_ids.length > 0 && known.client_ids.length === places.length;
    const isPlain = known.reseller_id === null && !known.platform_administrator;
    if (!isOwn || !isPlain || known.has_password || known.has_identity) throw taken();
    await users.lockUser(tx, known.id);
    await store.insertIdentity(tx, { provider_id: provider.id, subject, user_id: known.id });
    await store.markVouched(tx, known.id);
    const identity = await store.findIdentity(tx.sql, provider.id, subject);
    if (!identity) throw taken();
    return updated(on, tx, provider, { ...identity, person, wanted, tiedIn: known.client_ids }, from);
  }
  const row = {
    client_id: first.client_id,
    email,
    name: person.name?.slice(0, 255) ?? null,
    platform_administrator: false,
    password_hash: null,
    auth_types: ['sso'],
    created_at: tx.now,
  };
  const userId = await insertUser(tx.sql, row, first.role_id).catch((error: unknown) => {
    throw violates(error, 'users_by_email') ? taken() : error;
  });
  for (const place of others) await store.insertPlace(tx, userId, place);
  await store.insertIdentity(tx, { provider_id: provider.id, subject, user_id: userId });
  on.log.info({ userId, providerId: provider.id }, 'A user came by an identity provider');
  recordChange(on, tx, 'created', { userId, clientIds: [...wanted.keys()], provider, from });
  await recordEntry(tx, userId, from, 'sso');
  return { changed: NOTHING, userId, clientId: first.client_id };
}

const taken = () =>
  new AddressTakenError(
    'email',
    'Somebody has this e-mail address already. Ask an administrator of your account to remove the other user or to invite you.',
  );

async function updated(
  on: Platform,
  tx: Transaction,
  provider: store.ProviderRow,
  {
    person,
    wanted,
    tiedIn = [],
    ...user
  }: NonNullable<Awaited<ReturnType<typeof store.findIdentity>>> & {
    person: Vouched;
    wanted: ReadonlyMap<number, number>;
    /** Where the user was, if the provider vouches for them from now on. */
    tiedIn?: readonly number[];
  },
  from: From,
): Promise<Admitted> {
  const places = await store.placesOf(tx.sql, user.id, provider);
  if (!user.is_active) return { changed: NOTHING, refused: BLOCKED };
  if (user.reseller_id !== null || user.platform_administrator) return { changed: NOTHING, refused: BEYOND };

  const shutIn = new Set(user.shut_in);
  const lost = places.filter((one) => one.is_active && !wanted.has(one.client_id)).map((one) => one.client_id);
  const back = places.filter((one) => !one.is_active && wanted.has(one.client_id) && shutIn.has(one.client_id));
  const moved = places.filter((one) => wanted.has(one.client_id) && wanted.get(one.client_id) !== one.role_id);
  const demoted = moved.filter(({ role_id }) => role_id === ROLES.administrators.id).map((one) => one.client_id);
  const isOfReseller = provider.client_id === null && places.length > 0;
  const added = isOfReseller ? [...wanted.keys()].filter((id) => !places.some((one) => one.client_id === id)) : [];

  await users.setActiveIn(tx.sql, user.id, lost, false);
  await users.setActiveIn(
    tx.sql,
    user.id,
    back.map((one) => one.client_id),
    true,
  );
  for (const { client_id: clientId } of moved) {
    await users.updateRole(tx.sql, { clientId, userId: user.id, roleId: wanted.get(clientId) ?? ROLES.users.id });
  }
  for (const id of added) {
    await store.insertPlace(tx, user.id, { client_id: id, role_id: wanted.get(id) ?? ROLES.users.id });
  }
  const weaker = [...lost, ...demoted];
  if (weaker.length > 0) {
    await expireInvitations(tx.sql, { clientIds: weaker, invitedBy: user.id }, tx.now);
  }
  for (const id of lost) shutIn.add(id);
  for (const { client_id } of back) shutIn.delete(client_id);
  const key = { providerId: provider.id, subject: person.subject };
  await store.updateIdentity(tx, key, { shut_in: [...shutIn], last_used_at: tx.now });
  const ended = lost.length > 0 ? await endLogins(tx, { memberId: user.id, clientIds: lost }) : NOTHING;
  const touched = [...lost, ...back.map((one) => one.client_id), ...moved.map((one) => one.client_id)];
  const told = touched.length > 0 ? await announceUser(tx, user.id, touched) : NOTHING;
  const change = { userId: user.id, provider, from };
  recordChange(on, tx, 'updated', { ...change, clientIds: [...new Set([...tiedIn, ...touched])] });
  recordChange(on, tx, 'created', { ...change, clientIds: added });
  const changed = together(ended, told);

  const open = await users.membershipsOf(tx.sql, [user.id]);
  const clientId = open.find((one) => one.is_active && wanted.has(one.client_id))?.client_id;
  await recordEntry(tx, user.id, from, 'sso', clientId !== undefined);
  if (clientId !== undefined) return { changed, userId: user.id, clientId };
  if (wanted.size === 0) return { changed, refused: NO_GROUP };
  return { changed, refused: BLOCKED };
}
