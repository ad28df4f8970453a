import { type Transaction, violates } from '../../db/database.ts';
import { ConflictError, ForbiddenError, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { noteAccount } from '../../lib/request-context.ts';
import type { Platform } from '../../platform.ts';
import {
  allows,
  type CloudRole,
  ownsClient,
  type Principal,
  projectsSeen,
  ROLES,
  scopeOfRole,
  seesProject,
} from '../../requests/principal.ts';
import { hasProject, lockClients } from '../accounts/service.ts';
import { announceUser } from '../logins/in-transaction.ts';
import type { AccountUserListQuery, AssignmentListQuery, AssignRole } from './schema.ts';
import * as store from './store.ts';

/*
 * Who has which role in the cloud. Administrators of the account assign all of them. Administrators of a project assign
 * roles in it, but only to users who have rights in single projects anyway, and can't free anybody of them: else they could
 * confine others, or give out rights that they don't have.
 */

interface Place {
  clientId: number;
  projectId: number | null;
}

/** @throws ForbiddenError, InvalidError, ConflictError for a user who has a role there */
export async function assignRole(
  on: Platform,
  principal: Principal,
  request: AssignRole,
): Promise<store.AssignmentRow> {
  const { user_id: userId, role } = request;
  const place = placeOf(principal, request);
  requireManager(principal, place);
  noteAccount(place.clientId);
  const { made, credentials } = await on.database.accept(async (tx) => {
    await lockClients(tx, [place.clientId]);
    await requireSound(tx, place, userId, role);
    await requireConfined(tx, principal, place, userId);
    const made = await occupied(() => store.insertAssignment(tx, { ...place, userId }, { role, by: principal.userId }));
    tx.about({ type: 'role', id: made.id });
    return { made, credentials: await announceUser(tx, userId, [place.clientId]) };
  });
  on.authenticator.forget(credentials);
  return made;
}

/** Who has rights in single projects sees the assignments to these. */
export const listAssignments = (on: Platform, principal: Principal, query: AssignmentListQuery) =>
  store.listAssignments(on.database.sql, principal.clientId, query, projectsSeen(principal));

/** Changes role and project, not the user. @throws NotFoundError, ForbiddenError, InvalidError, ConflictError */
export async function changeAssignment(on: Platform, principal: Principal, id: number, request: AssignRole) {
  const before = await getAssignment(on, principal, id);
  const place = placeOf(principal, { client_id: before.client_id, ...request });
  const fixed = (field: string) => new InvalidError({ [field]: ['Cannot change; make another assignment.'] });
  if (request.user_id !== before.user_id) throw fixed('user_id');
  if (place.clientId !== before.client_id) throw fixed('client_id');
  requireManager(principal, place);
  await changed(on, principal, before, async (tx) => {
    await requireSound(tx, place, before.user_id, request.role);
    const change = { project_id: place.projectId, role: request.role };
    await occupied(() => store.changeAssignment(tx, before.id, change));
  });
}

/** A user without another assignment has the rights of their group again. @throws NotFoundError, ForbiddenError */
export async function removeAssignment(on: Platform, principal: Principal, id: number): Promise<void> {
  const before = await getAssignment(on, principal, id);
  await changed(on, principal, before, async (tx) => {
    if (!managesAccount(principal, before.client_id)) {
      const places = await store.placesOf(tx.sql, before.client_id, before.user_id);
      if (places.length < 2) {
        throw new ForbiddenError(
          `It is the only assignment of user ${before.user_id}, whose rights would no longer be confined; an administrator of the account can take it`,
        );
      }
    }
    await tx.sql.deleteFrom('role_assignments').where('id', '=', before.id).execute();
  });
}

export const listMembers = (on: Platform, principal: Principal, query: AccountUserListQuery) =>
  store.listMembers(on.database.sql, principal.clientId, query);

async function getAssignment(on: Platform, principal: Principal, id: number): Promise<store.AssignmentRow> {
  const row = await store.findAssignment(on.database.sql, id);
  if (!row || !ownsClient(principal, row.client_id) || !seesProject(principal, row.project_id)) {
    throw new NotFoundError('Role assignment', id);
  }
  return row;
}

/** Does the change while the account is locked and the assignment is as it was. */
async function changed(
  on: Platform,
  principal: Principal,
  before: store.AssignmentRow,
  change: (tx: Transaction) => Promise<void>,
): Promise<void> {
  const { id, client_id: clientId, project_id: projectId, user_id: userId } = before;
  requireManager(principal, { clientId, projectId });
  if (!managesAccount(principal, clientId) && userId === principal.userId) {
    throw new ForbiddenError('You cannot change your own role');
  }
  noteAccount(clientId);
  const credentials = await on.database.accept(async (tx) => {
    await lockClients(tx, [clientId]);
    const now = await store.findAssignment(tx.sql, id);
    if (!now) throw new NotFoundError('Role assignment', id);
    if (now.project_id !== projectId) throw new ConflictError('The assignment was changed meanwhile; try again');
    await change(tx);
    return announceUser(tx, userId, [clientId]);
  });
  on.authenticator.forget(credentials);
}

function placeOf(principal: Principal, request: Partial<AssignRole>): Place {
  return { clientId: request.client_id ?? principal.clientId, projectId: request.project_id ?? null };
}

/** Whether the caller assigns all roles in that account. */
function managesAccount(principal: Principal, clientId: number): boolean {
  if (principal.platformAdministrator) return true;
  return principal.clientId === clientId && (principal.cloud?.everywhere ?? allows(principal, 'administer'));
}

function requireManager(principal: Principal, { clientId, projectId }: Place): void {
  if (managesAccount(principal, clientId)) return;
  const role = projectId === null ? undefined : principal.cloud?.projects[projectId];
  if (principal.clientId === clientId && role === 'ProjectAdministrator') return;
  throw new ForbiddenError(
    projectId === null
      ? `Only administrators of client ${clientId} assign roles in it`
      : `Only administrators of client ${clientId} and of project ${projectId} assign roles in it`,
  );
}

/** @throws InvalidError for a role that can't be there, an unknown user or project, and for who has every right anyway */
async function requireSound(tx: Transaction, { clientId, projectId }: Place, userId: number, role: CloudRole) {
  const ofProject = scopeOfRole(role) === 'Project';
  if (ofProject && projectId === null) {
    throw new InvalidError({ project_id: [`The role ${role} is for a project; send its ID.`] });
  }
  if (!ofProject && projectId !== null) {
    throw new InvalidError({ project_id: [`The role ${role} is for the whole account; leave it out.`] });
  }
  if (projectId !== null && !(await hasProject(tx.sql, clientId, projectId))) {
    throw new InvalidError({ project_id: [`Client ${clientId} has no project ${projectId}.`] });
  }
  const group = await store.groupOf(tx.sql, clientId, userId);
  if (group === undefined) {
    throw new InvalidError({ user_id: [`Client ${clientId} has no user ${userId}.`] });
  }
  if (ofProject && group === ROLES.administrators.id) {
    const message = `User ${userId} is an administrator of the account, with all rights in every project; give the user another role there first.`;
    throw new InvalidError({ user_id: [message] });
  }
}

/** @throws ForbiddenError if an administrator of a project would take rights from somebody */
async function requireConfined(tx: Transaction, principal: Principal, { clientId }: Place, userId: number) {
  if (managesAccount(principal, clientId)) return;
  const places = await store.placesOf(tx.sql, clientId, userId);
  if (places.length > 0 && !places.includes(null)) return;
  throw new ForbiddenError(
    `User ${userId} has rights in the whole account and would lose them; only its administrators can do that`,
  );
}

async function occupied<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!violates(error, 'role_assignments_once')) throw error;
    throw new ConflictError('The user has a role there already; change that assignment');
  }
}
