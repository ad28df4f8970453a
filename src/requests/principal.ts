import { isDeepStrictEqual } from 'node:util';
import { ForbiddenError } from '../lib/errors.ts';

/** Groups of users with their published ids. */
export const ROLES = {
  administrators: { id: 1, name: 'Administrators' },
  users: { id: 2, name: 'Users' },
  engineers: { id: 5, name: 'Engineers' },
  purgeEverywhere: { id: 3009, name: 'Purge and Prefetch only (API+Web)' },
  purgeByApi: { id: 3022, name: 'Purge and Prefetch only (API)' },
} as const;

/** For descriptions in the API document. */
export const ROLE_LIST = Object.values(ROLES)
  .map(({ id, name }) => `${name} ${id}`)
  .join(', ');

/** The caller of a request, according to its API token or login. */
export interface Principal {
  /** The API token of the request; undefined for a login. */
  tokenId: number | undefined;
  /** The login of the request; undefined for an API token. */
  loginId: number | undefined;
  userId: number;
  clientId: number;
  roleId: number;
  /** The reseller that the caller administers, if any. */
  resellerId: number | undefined;
  /** May do everything; its own client, project and reseller are the defaults. */
  platformAdministrator: boolean;
  /**
   * Set if the user typed the password for this login; never for logins in another user's name or API tokens.
   */
  inPerson?: boolean;
  /** Services that the account may not use right now. */
  shutServices?: readonly string[];
  /** What role assignments allow in the cloud; without it, the role decides. See `project-roles.ts`. */
  cloud?: CloudRights;
}

export type CloudRole =
  | 'ClientAdministrator'
  | 'InternalNetworkOnlyUser'
  | 'Observer'
  | 'ProjectAdministrator'
  | 'User';

/** What a caller's role assignments allow. */
export interface CloudRights {
  /** Whether one of them is for the whole account. */
  everywhere: boolean;
  /** The role in each project; elsewhere none, unless `everywhere`. */
  projects: Readonly<Record<number, CloudRole>>;
}

/**
 * What an operation requires of its caller: `read` any member of the account, `operate` an engineer or
 * administrator, `administer` an administrator, `resell` a reseller's token.
 */
export type Access = 'read' | 'operate' | 'administer' | 'resell';

const ROLES_BY_ACCESS: Record<Exclude<Access, 'resell'>, readonly number[]> = {
  read: [ROLES.administrators.id, ROLES.engineers.id, ROLES.users.id],
  operate: [ROLES.administrators.id, ROLES.engineers.id],
  administer: [ROLES.administrators.id],
};

export function allows(principal: Principal, access: Access): boolean {
  if (principal.platformAdministrator) return true;
  if (access === 'resell') {
    return principal.resellerId !== undefined && principal.roleId === ROLES.administrators.id;
  }
  return ROLES_BY_ACCESS[access].includes(principal.roleId);
}

/** Whether a caller that is authenticated again has the rights that it had. */
export function hasSameRights(now: Principal, before: Principal): boolean {
  return (
    now.clientId === before.clientId &&
    now.roleId === before.roleId &&
    now.resellerId === before.resellerId &&
    now.platformAdministrator === before.platformAdministrator &&
    isDeepStrictEqual(now.cloud, before.cloud)
  );
}

/** @throws ForbiddenError for all but the platform administrator, who alone does that */
export function requirePlatform({ platformAdministrator }: Principal, duty: string): void {
  if (!platformAdministrator) throw new ForbiddenError(`Only the platform administrator ${duty}`);
}

/** Whether the caller may see resources of that client. */
export function ownsClient(principal: Principal, clientId: number): boolean {
  return principal.platformAdministrator || principal.clientId === clientId;
}

/** The accounts whose users the caller manages, for a query. */
export interface Reach {
  all: boolean;
  clientId: number | undefined;
  resellerId: number | undefined;
}

export function reachOf(principal: Principal): Reach {
  return {
    all: principal.platformAdministrator,
    clientId: allows(principal, 'administer') ? principal.clientId : undefined,
    resellerId: allows(principal, 'resell') ? principal.resellerId : undefined,
  };
}
