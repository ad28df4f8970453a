import { hash, timingSafeEqual } from 'node:crypto';
import { type InferResult, sql } from 'kysely';
import { type Admit, announceAll, type ChangeFeed, createRowCache } from '../../db/changes.ts';
import type { Database, Sql, Transaction } from '../../db/database.ts';
import { type RefusedCredentials, UnauthenticatedError } from '../../lib/errors.ts';
import { blockListOf } from '../../lib/ip-addresses.ts';
import type { Clock } from '../../lib/time.ts';
import {
  type CloudRole,
  cloudRights,
  confinedTo,
  type Principal,
  parseTokenText,
  ROLES,
} from '../../requests/principal.ts';
import { lesserRole } from './schema.ts';
import type { SignedTokenClaims, SignedTokens } from './signed-tokens.ts';

/** Returns an API token and the user it acts for. Undefined if that user or account is deleted. */
export async function findTokenOwner(db: Sql, tokenId: number) {
  const row = await places(db)
    .innerJoin('api_tokens', (on) =>
      on.onRef('api_tokens.user_id', '=', 'users.id').onRef('api_tokens.client_id', '=', 'clients.id'),
    )
    .select([
      'api_tokens.role_id as most',
      sql<Buffer>`coalesce(api_tokens.bound_secret_hash, api_tokens.secret_hash)`.as('secretHash'),
      'api_tokens.expires_at as expiresAt',
      'api_tokens.deleted_at as deletedAt',
      'api_tokens.project_id as projectId',
      'api_tokens.operations',
      'api_tokens.address_ranges as addressRanges',
    ])
    .where('api_tokens.id', '=', tokenId)
    .executeTakeFirst();
  if (!row) return undefined;
  const { secretHash, expiresAt, deletedAt } = row;
  const access =
    deletedAt === null ? bounded(accessOf(row, { tokenId, loginId: undefined }), row) : shutOutAs('deleted', row);
  return { secretHash, expiresAt, ...access };
}

interface Bounds {
  projectId: number | null;
  operations: string[] | null;
  addressRanges: string[] | null;
}

/** Returns the caller with no more rights than its token is good for. */
function bounded(access: Access, { projectId, operations, addressRanges }: Bounds): Access {
  if ('shutOut' in access || (projectId ?? operations ?? addressRanges) === null) return access;
  const { principal } = access;
  const bounds = {
    projectId: projectId ?? undefined,
    operations: operations ?? undefined,
    addresses: addressRanges ? blockListOf(addressRanges) : undefined,
  };
  if (projectId === null) return { principal: { ...principal, bounds } };
  const cloud = confinedTo(projectId, principal.roleId, principal.cloud);
  // Whatever goes by the role, and not by the project, is about the whole account.
  const nobodySpecial = { roleId: ROLES.users.id, platformAdministrator: false, resellerId: undefined };
  return { principal: { ...principal, ...nobodySpecial, bounds, cloud } };
}

/** Returns a login that has not ended, with its user. Undefined also if that user or account is deleted. */
export async function findLoginOwner(db: Sql, loginId: number) {
  const row = await places(db)
    .innerJoin('login_sessions', (on) =>
      on.onRef('login_sessions.user_id', '=', 'users.id').onRef('login_sessions.client_id', '=', 'clients.id'),
    )
    .select([
      'login_sessions.role_id as most',
      'login_sessions.expires_at as expiresAt',
      'login_sessions.key',
      'login_sessions.refresh_id as refreshId',
      'login_sessions.maker_id as makerId',
      'login_sessions.token_id as madeByToken',
      'login_sessions.provider_id as providerId',
    ])
    .where('login_sessions.id', '=', loginId)
    .executeTakeFirst();
  if (!row) return undefined;
  const inPerson = row.makerId === row.user_id && row.madeByToken === null;
  const { expiresAt, key, refreshId } = row;
  // An account's identity provider vouches for its members, and for nobody's rights beyond accounts.
  const place = row.providerId === null ? row : { ...row, reseller_id: null, platform_administrator: false };
  return { expiresAt, key, refreshId, ...accessOf(place, { tokenId: undefined, loginId, inPerson }) };
}

/** Combines every user with every account, and with the user's role there, if any. The credential selects both. */
function places(db: Sql) {
  return db
    .selectFrom('users')
    .innerJoin('clients', (on) => on.onTrue())
    .leftJoin('client_users', (on) =>
      on.onRef('client_users.user_id', '=', 'users.id').onRef('client_users.client_id', '=', 'clients.id'),
    )
    .select([
      'clients.id as client_id',
      'clients.status',
      'users.id as user_id',
      'client_users.role_id',
      'users.client_id as home_id',
      'users.reseller_id',
      'users.platform_administrator',
      sql<boolean>`client_users.is_active and users.is_active and not users.pending`.as('let_in'),
      sql<string[]>`array(
        select service from client_services
         where client_id = clients.id and not (enabled and status in ('active', 'trial')))`.as('shut'),
      sql<{ project: number | null; role: CloudRole }[]>`coalesce((
        select json_agg(json_build_object('project', project_id, 'role', role) order by project_id)
          from role_assignments where client_id = clients.id and user_id = users.id), '[]')`.as('assigned'),
    ])
    .where('users.deleted_at', 'is', null)
    .where('clients.deleted_at', 'is', null);
}

type Membership = InferResult<ReturnType<typeof places>>[number] & {
  /** The most rights that the credential may have. */
  most: number;
};
type Credential = Pick<Principal, 'tokenId' | 'loginId' | 'inPerson'>;
interface ShutOut extends Pick<Principal, 'clientId' | 'userId'> {
  shutOut: 'paused' | 'blocked' | 'deleted';
}
type Access = { principal: Principal } | ShutOut;

const shutOutAs = (shutOut: ShutOut['shutOut'], row: Membership): ShutOut => ({
  shutOut,
  clientId: row.client_id,
  userId: row.user_id,
});

/**
 * Returns the rights that both the credential and the user's role in the account allow. Rights beyond
 * accounts only exist in the home account.
 */
function accessOf(row: Membership, credential: Credential): Access {
  if (row.status === 'paused') return shutOutAs('paused', row);
  if (!row.let_in || row.role_id === null) return shutOutAs('blocked', row);
  const roleId = lesserRole(row.most, row.role_id);
  const home = row.client_id === row.home_id;
  const cloud = cloudRights(row.assigned, { groupId: row.role_id, roleId });
  const principal = {
    ...credential,
    userId: row.user_id,
    clientId: row.client_id,
    roleId,
    resellerId: home ? (row.reseller_id ?? undefined) : undefined,
    // A token with a lesser role has fewer rights, even if the platform administrator made it.
    platformAdministrator: home && row.platform_administrator && roleId === ROLES.administrators.id,
    ...(row.shut.length > 0 && { shutServices: row.shut }),
    ...(cloud && { cloud }),
  };
  return { principal };
}

/** Request headers that may contain credentials. */
export interface Offered {
  authorization?: string | undefined;
  'x-api-key'?: unknown;
}

const FORM =
  'Send the header "Authorization: apikey <id>_<secret>" with an API token, or "Authorization: Bearer <access token>" with the access token of a login';
const NEW_TOKEN =
  'create a new one with POST /iam/v2/clients/{client_id}/tokens or, on the server, "tradewind token create"';

/** Returns what to do about credentials that can't be parsed. It never repeats a part of a secret. */
export function adviceOn(offered: Offered): string {
  const { authorization: given } = offered;
  if (!given) return offered['x-api-key'] === undefined ? `${FORM}.` : `The header X-Api-Key is ignored. ${FORM}.`;
  const [first = '', second, ...more] = given.trim().split(/\s+/, 3);
  if (second === undefined) return wordless(first);
  if (more.length > 0) return `The header takes one word, one space and the token, and nothing else. ${FORM}.`;
  switch (first.toLowerCase()) {
    case 'bearer':
      return parseTokenText(second)
        ? 'This is an API token: write the word apikey before it instead of Bearer.'
        : `Bearer takes the access token of a login. ${FORM}.`;
    case 'apikey':
      if (isSignedToken(second)) return 'This is the token of a login: write the word Bearer before it.';
      if (parseTokenText(second)) return 'Put one space between the word and the token, and none before or after them.';
      return 'An API token is its id, an underscore and its secret: <id>_<secret>. Send it whole, as it was shown when it was made.';
    default:
      return `The word before the token must be apikey or Bearer. ${FORM}.`;
  }
}

/** Handles a token, or what may be one, without the scheme word before it. */
function wordless(text: string): string {
  if (parseTokenText(text)) return 'Write the word apikey and one space before the token.';
  if (isSignedToken(text)) return 'Write the word Bearer and one space before the access token.';
  return `${FORM}.`;
}

function isSignedToken(text: string): boolean {
  return text.split('.', 4).length === 3;
}

export const UNKNOWN_TOKEN = `No API token has this id and secret; it may have been deleted. Otherwise ${NEW_TOKEN}.`;
export const EXPIRED_TOKEN = `This API token has expired; ${NEW_TOKEN}.`;
export const ENDED_LOGIN =
  'This login has ended; get a new pair of tokens from POST /iam/auth/jwt/refresh or log in again.';

/** Why a valid API token or login is refused. */
export const SHUT_OUT = {
  paused:
    'The account is suspended; its reseller can resume it, and so can the operator of the platform with "tradewind client resume".',
  blocked: 'The user is blocked in this account; one of its administrators can let them in again.',
  deleted: UNKNOWN_TOKEN,
} as const;

/** The topics on which changes of API tokens and logins are announced. */
export const TOKEN_TOPIC = 'token';
export const LOGIN_TOPIC = 'login';

/** API tokens and logins whose rights have changed or ended. */
export interface Credentials {
  tokens: number[];
  logins: number[];
}

export function together(...all: Credentials[]): Credentials {
  return {
    tokens: all.flatMap(({ tokens }) => tokens),
    logins: all.flatMap(({ logins }) => logins),
  };
}

/**
 * Tells every process that the rights of these credentials have changed or ended. After the commit, pass the result
 * to the authenticator's `forget`.
 */
export async function announce(tx: Transaction, credentials: Credentials): Promise<Credentials> {
  await announceAll(tx.client, TOKEN_TOPIC, credentials.tokens);
  await announceAll(tx.client, LOGIN_TOPIC, credentials.logins);
  return credentials;
}

export async function announceTokens(tx: Transaction, tokens: number[]): Promise<Credentials> {
  return announce(tx, { tokens, logins: [] });
}

export type { SignedTokenClaims, SignedTokens } from './signed-tokens.ts';

export interface Authenticator {
  /**
   * Returns the caller of an `Authorization` header: a scheme in any letter case, one space, the token. `apikey` takes
   * an API token, `Bearer` the access token of a login. `admit` runs the database query for an unknown token, or throws
   * instead. `within` is a transaction that has changed nothing yet; without it, any connection of the pool does.
   * @throws UnauthenticatedError with the published texts
   */
  authenticate(offered: Offered, admit?: Admit, within?: Sql): Promise<Principal>;
  /** Returns the present rights of a credential that was accepted before. @throws UnauthenticatedError if it has ended */
  standing(credential: Pick<Principal, 'loginId' | 'tokenId'>): Promise<Principal>;
  /**
   * Call it after the commit that changed the credentials; the announcement in that commit informs the other processes.
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

  async function byApiToken(text: string, offered: Offered, admit: Admit | undefined, db: Sql): Promise<Principal> {
    const token = parseTokenText(text);
    if (!token) {
      throw new UnauthenticatedError(`Bad token: ${/^\d{0,15}/.exec(text)?.[0] ?? ''}`, true, adviceOn(offered));
    }
    const owner = await owners.get(token.id, admit, (id) => findTokenOwner(db, id));
    // Callers who don't know the secret are told nothing more.
    if (!owner || !timingSafeEqual(owner.secretHash, secretHash(token.secret))) throw invalid(UNKNOWN_TOKEN);
    const principal = principalOf(owner, EXPIRED_TOKEN, token.id);
    uses.set(token.id, clock.now());
    return principal;
  }

  function principalOf(owner: Access & { expiresAt: Date | null }, expired: string, tokenId?: number): Principal {
    if ('shutOut' in owner) throw refused(owner, tokenId);
    if (owner.expiresAt === null || owner.expiresAt > clock.now()) return owner.principal;
    throw invalid(expired, { reason: 'expired', ...namesOf(owner.principal) });
  }

  async function byLogin(text: string, admit: Admit | undefined, db: Sql): Promise<Principal> {
    const token = await signedTokens.read('access', text);
    const login = await logins.get(token.loginId, admit, (id) => findLoginOwner(db, id));
    if (!login || !isOfLogin(token, login)) throw invalid(ENDED_LOGIN);
    return principalOf(login, ENDED_LOGIN);
  }

  return {
    async authenticate(offered, admit, within = database.sql) {
      const header = offered.authorization;
      if (!header) {
        throw new UnauthenticatedError('Authentication credentials were not provided.', false, adviceOn(offered));
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
    async standing({ tokenId, loginId }) {
      const owner = tokenId === undefined ? undefined : await owners.get(tokenId);
      const login = loginId === undefined ? undefined : await logins.get(loginId);
      if (owner) return principalOf(owner, EXPIRED_TOKEN, tokenId);
      if (login) return principalOf(login, ENDED_LOGIN);
      throw invalid(tokenId === undefined ? ENDED_LOGIN : UNKNOWN_TOKEN);
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
function isOfLogin({ loginKey, refreshId }: SignedTokenClaims, login: { key: string | null; refreshId: string }) {
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
