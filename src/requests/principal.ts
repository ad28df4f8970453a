import { type BlockList, isIPv6 } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { ForbiddenError, NotFoundError } from '../lib/errors.ts';

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
  /** Set if the user typed the password for this login; never for logins in another user's name or API tokens. */
  inPerson?: boolean;
  /** Services that the account may not use right now. */
  shutServices?: readonly string[];
  /** What role assignments allow in the cloud; without it, the role decides. */
  cloud?: CloudRights;
  /** What the API token is good for, if not for all that its user may do. */
  bounds?: TokenBounds;
}

/** What an API token is confined to; each of them may be absent. */
export interface TokenBounds {
  /** `cloud` has the rights there. */
  projectId: number | undefined;
  /** Names of operations; one that ends with an asterisk stands for all that begin so. */
  operations: readonly string[] | undefined;
  /** From where it may be used. */
  addresses: BlockList | undefined;
}

/**
 * The caller of a deletion that is carried out later: the user who asked for it. The user's right was checked and recorded
 * when the deletion was accepted.
 */
export const callerOfDeletion = ({ userId, userClientId }: { userId: number; userClientId: number }): Principal => ({
  tokenId: undefined,
  loginId: undefined,
  userId,
  clientId: userClientId,
  roleId: ROLES.administrators.id,
  resellerId: undefined,
  platformAdministrator: true,
});

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

const NEEDED: Record<Access, string> = {
  read: 'a member of the account',
  operate: 'an administrator or engineer of the account',
  administer: 'an administrator of the account',
  resell: "a reseller's administrator",
};

/** The refusal of a caller whose role is too low for that access. */
export const lacks = (access: Access): ForbiddenError =>
  new ForbiddenError(`This operation needs the token of ${NEEDED[access]}`);

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

/** Whose money a caller sees: that of all accounts, or of its own and of the reseller that it administers. */
export type MoneySight = { all: true } | { all: false; clientId: number; resellerId: number | null };

export function moneySeenBy(principal: Principal): MoneySight {
  if (principal.platformAdministrator) return { all: true };
  const resellerId = allows(principal, 'resell') ? (principal.resellerId ?? null) : null;
  return { all: false, clientId: principal.clientId, resellerId };
}

/*
 * What a user may do in the cloud by role assignments. They hold for members of the account who are not among its
 * Administrators: those have every project. A user without assignments has the rights of their group, everywhere. A user
 * with assignments to projects has these in them, whatever their group, and none in other projects or in the whole account.
 */

export const CLOUD_ROLES = [
  'ClientAdministrator',
  'InternalNetworkOnlyUser',
  'Observer',
  'ProjectAdministrator',
  'User',
] as const satisfies readonly CloudRole[];

/** Where each role can be assigned: in the whole account, or in projects. */
export const scopeOfRole = (role: CloudRole): 'Client' | 'Project' =>
  role === 'ClientAdministrator' ? 'Client' : 'Project';

const ALLOWED: Record<CloudRole, readonly Access[]> = {
  ClientAdministrator: ['read', 'operate', 'administer'],
  ProjectAdministrator: ['read', 'operate', 'administer'],
  User: ['read', 'operate'],
  InternalNetworkOnlyUser: ['read', 'operate'],
  Observer: ['read'],
};

/** Operations of the whole account that callers with rights in single projects may use: they show nothing else. */
const OF_EVERYBODY = new Set([
  'acknowledgeTask',
  'addPasskey',
  'askReachability',
  'cancelTask',
  'confirmTotp',
  'createRoleAssignment',
  'deleteRoleAssignment',
  'endOwnLogin',
  'endOwnLogins',
  'getCloudTask',
  'getDdosAccessibility',
  'getDdosCoverage',
  'getDdosPrice',
  'getLoggingPrice',
  'getPasskeyOptions',
  'getPermissions',
  'getPrices',
  'getReachability',
  'getRegion',
  'getTask',
  'listAccountUsers',
  'listAssignableRoles',
  'listDdosTemplates',
  'listKafkaHosts',
  'listLoggingDestinations',
  'listLoggingHosts',
  'listManagedResources',
  'listManagedTasks',
  'listOpensearchHosts',
  'listOwnLogins',
  'listProjects',
  'listRegions',
  'listRoleAssignments',
  'listSecondFactors',
  'listTaskSteps',
  'listTasks',
  'makeRecoveryCodes',
  'removeSecondFactor',
  'search',
  'setUpTotp',
  'updateRoleAssignment',
]);
export const OPERATIONS_OF_EVERYBODY: readonly string[] = [...OF_EVERYBODY];

/** What is needed of a request to judge it. */
export interface AskedFor {
  operation: string;
  /** The path, without the prefix of a dialect. */
  path: string;
  /** From the path, as it was given. */
  projectId: string | number | undefined;
}

/**
 * Returns the rights that assignments give to a member of that group. A credential whose role is less than the group has at
 * most that role's rights, in projects as well.
 */
export function cloudRights(
  assigned: readonly { project: number | null; role: CloudRole }[],
  { groupId, roleId }: { groupId: number; roleId: number },
): CloudRights | undefined {
  if (assigned.length === 0 || groupId === ROLES.administrators.id) return undefined;
  const isLesser = roleId !== groupId;
  const everywhere = assigned.some(({ project }) => project === null);
  // The role of the credential decides.
  if (everywhere && isLesser) return undefined;
  const projects = assigned.flatMap(({ project, role }): [number, CloudRole][] => {
    if (project === null) return [];
    if (!isLesser) return [[project, role]];
    return roleId === ROLES.users.id ? [[project, 'Observer']] : [];
  });
  return { everywhere, projects: Object.fromEntries(projects) };
}

/** The rights of a group in one project, as a role. */
const AS_IN_PROJECT: Readonly<Record<number, CloudRole>> = {
  [ROLES.administrators.id]: 'ProjectAdministrator',
  [ROLES.engineers.id]: 'User',
  [ROLES.users.id]: 'Observer',
};

/** Returns what is left of rights in the cloud, by default those of the role, for a token of one project. */
export function confinedTo(projectId: number, roleId: number, cloud: CloudRights | undefined): CloudRights {
  const role =
    cloud && !cloud.everywhere ? cloud.projects[projectId] : AS_IN_PROJECT[cloud ? ROLES.administrators.id : roleId];
  return { everywhere: false, projects: role ? { [projectId]: role } : {} };
}

/**
 * Refuses what the caller's role doesn't allow, there or anywhere. Asks nobody: all of it is in the caller's own row.
 * @throws ForbiddenError, NotFoundError for a project in which the caller has no role
 */
export function requireAccess(principal: Principal, access: Access, askedFor: () => AskedFor): void {
  const { cloud, bounds } = principal;
  // Nearly every request ends here.
  if (!cloud && !bounds) {
    if (allows(principal, access)) return;
    throw lacks(access);
  }
  const asked = askedFor();
  if (bounds) requireWithin(bounds, asked);
  if (cloud) requireRole(principal, cloud, access, asked);
  else if (!allows(principal, access)) throw lacks(access);
}

/** @throws ForbiddenError for what the token isn't made for */
function requireWithin({ projectId: only, operations }: TokenBounds, { operation, projectId }: AskedFor): void {
  const isNamed = (name: string) => (name.endsWith('*') ? operation.startsWith(name.slice(0, -1)) : name === operation);
  if (GIVES_RIGHTS.has(operation)) throw free();
  if (operations && !operations.some(isNamed)) {
    throw new ForbiddenError(`This token is not good for ${operation}, but only for ${operations.join(', ')}`);
  }
  if (only !== undefined && projectId === undefined && !OF_EVERYBODY.has(operation)) {
    throw new ForbiddenError(
      `This token is good for project ${only} only, and this operation is about the whole account`,
    );
  }
}

/** @throws ForbiddenError if the token may not be used from that address */
export function requireAddress({ bounds }: Principal, address: string): void {
  if (!bounds?.addresses || bounds.addresses.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')) return;
  throw new ForbiddenError(`This token may not be used from ${address}`);
}

/** @throws ForbiddenError for a token with bounds, which a login would be free of */
export function requireUnbounded({ bounds }: Principal): void {
  if (bounds) throw free();
}

const free = () =>
  new ForbiddenError(
    'A token that is good for some things only makes no other tokens, logins or users, and changes nobody’s rights',
  );

/** Operations that give somebody a credential or other rights, which would be free of the bounds of a token. */
const GIVES_RIGHTS = new Set([
  'changeEmail',
  'changePassword',
  'createApiToken',
  'createApiTokenV1',
  'createClientUser',
  'createIdentityProvider',
  'createReseller',
  'createRoleAssignment',
  'createSeller',
  'createUser',
  'deleteIdentityProvider',
  'deleteRoleAssignment',
  'inviteUser',
  'renewInvitation',
  'resetPassword',
  'resetSecondFactors',
  'setSignInPolicy',
  'updateClientUser',
  'updateIdentityProvider',
  'updateRoleAssignment',
  'updateSeller',
  'updateUser',
]);
export const OPERATIONS_THAT_GIVE_RIGHTS: readonly string[] = [...GIVES_RIGHTS];

function requireRole(
  principal: Principal,
  cloud: CloudRights,
  access: Access,
  { operation, path, projectId }: AskedFor,
): void {
  const showsProjects = !['/iam/', '/streaming/', '/tradewind/v1/ai-tasks/'].some((area) => path.startsWith(area));
  if (cloud.everywhere || !showsProjects) {
    const isGiven = path.startsWith('/cloud/') && ALLOWED.ClientAdministrator.includes(access);
    if (isGiven || allows(principal, access)) return;
    throw lacks(access);
  }
  if (projectId === undefined) {
    if (OF_EVERYBODY.has(operation)) {
      if (access === 'read' || allowsSomewhere(cloud, access)) return;
      throw lacks(access);
    }
    throw new ForbiddenError('You have rights in single projects only, and this operation is about the whole account');
  }
  requireIn(principal, Number(projectId), access);
  const isOutside = path.includes('/floatingips/') || path.endsWith('/convert');
  if (access !== 'read' && isOutside) requireOutside(principal, Number(projectId));
}

/**
 * Refuses what the caller's role in that project of the account doesn't allow.
 * @throws ForbiddenError, NotFoundError for a project in which the caller has no role
 */
export function requireIn({ cloud }: Principal, projectId: number, access: Access): void {
  if (!cloud || cloud.everywhere) return;
  const role = cloud.projects[projectId];
  if (!role) throw new NotFoundError('Project', projectId);
  if (ALLOWED[role].includes(access)) return;
  throw new ForbiddenError(`The role ${role} in project ${projectId} does not allow this`);
}

const allowsSomewhere = ({ projects }: CloudRights, access: Access): boolean =>
  Object.values(projects).some((role) => ALLOWED[role].includes(access));

/** @throws ForbiddenError for who may use nothing that has a public address */
export function requireOutside({ cloud }: Principal, projectId: number): void {
  if (!cloud || cloud.everywhere || cloud.projects[projectId] !== 'InternalNetworkOnlyUser') return;
  throw new ForbiddenError(
    `The role InternalNetworkOnlyUser in project ${projectId} allows no public addresses; use a private network`,
  );
}

/** Whether the caller may see what is in that project of the account. What belongs to no project is the account's. */
export function seesProject({ cloud }: Principal, projectId: number | null): boolean {
  if (!cloud || cloud.everywhere) return true;
  return projectId !== null && cloud.projects[projectId] !== undefined;
}

/** Returns the only projects that the caller may see, of those asked for; undefined if nothing limits them. */
export function projectsSeen({ cloud }: Principal, asked?: readonly number[]): number[] | undefined {
  if (!cloud || cloud.everywhere) return asked && [...asked];
  const own = Object.keys(cloud.projects).map(Number);
  return asked && asked.length > 0 ? own.filter((id) => asked.includes(id)) : own;
}

/**
 * Parses the text of an API token: `<id>_<secret>` (v2) or `<id>$<secret>` (v1); both authenticate
 * everywhere. The id serves to find the token and is no secret.
 */
export function parseTokenText(text: string): { id: number; secret: string } | undefined {
  const match = /^(\d{1,15})[_$]([\x21-\x7e]{1,512})$/.exec(text);
  if (!match?.[1] || !match[2]) return undefined;
  return { id: Number(match[1]), secret: match[2] };
}

export function tokenText(version: 1 | 2, id: number, secret: string): string {
  return `${id}${version === 1 ? '$' : '_'}${secret}`;
}
