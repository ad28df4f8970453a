import type { Database, Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { requireEmail } from '../../lib/email.ts';
import { ForbiddenError, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { type ClientDirectory, type ClientEntry, resells } from '../clients/directory.ts';
import type { Authenticator } from '../identity/authenticate.ts';
import { announceUser, endLogins, together } from '../identity/credentials.ts';
import { type Principal, ROLES } from '../identity/principal.ts';
import { findRole, isAbove, type Role, roleChoices, roleOf } from '../identity/roles.ts';
import { requireAnotherAdministrator, requireRemovable } from './removal.ts';
import { isBeyond, mayStaff } from './rights.ts';
import type { InviteUser, UserRole } from './schema.ts';
import * as store from './store.ts';

/** Who belongs to an account, and with which role. Its administrators say so, and its reseller. */
export interface Members {
  /** The same error whether the account exists or not. @throws ForbiddenError */
  requireAccount(principal: Principal, clientId: number): Promise<void>;
  /** A user who is known joins at once; a new one has no password yet. `isNew` says which it was. @throws InvalidError, ForbiddenError */
  invite(principal: Principal, request: InviteUser): Promise<{ userId: number; isNew: boolean }>;
  /** @throws ForbiddenError, NotFoundError */
  roleIn(principal: Principal, clientId: number, userId: number): Promise<Role>;
  /** @throws ForbiddenError, NotFoundError, InvalidError, ConflictError for the last administrator */
  changeRole(principal: Principal, clientId: number, userId: number, wanted: UserRole): Promise<void>;
  /** A user who belongs to no other account is deleted. @throws ForbiddenError, NotFoundError, ConflictError */
  remove(principal: Principal, clientId: number, userId: number): Promise<void>;
}

export function createMembers(deps: {
  database: Database;
  clock: Clock;
  authenticator: Authenticator;
  clients: ClientDirectory;
}): Members {
  const { database, clock, authenticator, clients } = deps;

  async function accountFor(
    principal: Principal,
    clientId: number,
    may: (client: ClientEntry) => boolean,
  ): Promise<ClientEntry> {
    const client = await clients.find(clientId);
    if (client && may(client)) {
      principal.writes?.concerns(clientId);
      return client;
    }
    throw new ForbiddenError(
      principal.clientId === clientId
        ? `Only an administrator of client ${clientId} may do this`
        : `The users of client ${clientId} are not yours to manage`,
    );
  }

  async function requireAccount(principal: Principal, clientId: number): Promise<void> {
    if (principal.clientId === clientId) return;
    await accountFor(principal, clientId, (client) => resells(principal, client));
  }

  const requireStaffing = (principal: Principal, clientId: number) =>
    accountFor(principal, clientId, (client) => mayStaff(principal, client));

  /** The user and their place in the account, which is locked. */
  async function lockedMember(tx: Transaction, principal: Principal, clientId: number, userId: number) {
    await store.lockClients(tx, [clientId]);
    const user = await store.findUser(tx.sql, userId);
    const memberships = await store.membershipsOf(tx.sql, [userId]);
    const membership = memberships.find(({ client_id }) => client_id === clientId);
    if (!user || !membership) throw new NotFoundError('User', userId);
    if (isBeyond(principal, user, clientId)) {
      throw new ForbiddenError(`User ${userId} has more rights than you, so you can not change theirs`);
    }
    return { user, membership, others: memberships.filter((each) => each !== membership) };
  }

  return {
    requireAccount,

    async invite(principal, request) {
      const { email, client_id: clientId, name = null, lang } = request;
      await requireStaffing(principal, clientId);
      requireEmail(email);
      const role = acceptedRole(principal, request.user_role);
      const done = await database.accept(principal, async (tx) => {
        const now = clock.now();
        const known = await store.keepUserByEmail(tx, email);
        const userId = known ?? (await store.insertUser(tx.sql, { email, name, lang, clientId }, now));
        if (!(await store.insertMembership(tx.sql, { clientId, userId, roleId: role.id }, now))) {
          throw new InvalidError({ email: ['User with this email already belongs to the client.'] });
        }
        return { userId, isNew: known === undefined };
      });
      return done;
    },

    async roleIn(principal, clientId, userId) {
      await requireAccount(principal, clientId);
      const memberships = await store.membershipsOf(database.sql, [userId]);
      const membership = memberships.find(({ client_id }) => client_id === clientId);
      if (!membership) throw new NotFoundError('User', userId);
      return roleOf(membership.role_id);
    },

    async changeRole(principal, clientId, userId, wanted) {
      await requireStaffing(principal, clientId);
      const role = acceptedRole(principal, wanted);
      const credentials = await database.accept(principal, async (tx) => {
        await lockedMember(tx, principal, clientId, userId);
        if (role.id !== ROLES.administrators.id) await requireAnotherAdministrator(tx, userId, [clientId]);
        await store.updateRole(tx.sql, { clientId, userId, roleId: role.id });
        return announceUser(tx, userId);
      });
      authenticator.forget(credentials);
    },

    async remove(principal, clientId, userId) {
      await requireStaffing(principal, clientId);
      const credentials = await database.accept(principal, async (tx) => {
        const { user, others } = await lockedMember(tx, principal, clientId, userId);
        await requireRemovable(tx, user, [clientId], clock.now());
        await store.deleteMembership(tx.sql, { clientId, userId });
        const changed = await announceUser(tx, userId);
        const [next] = others;
        if (!next) {
          await store.markDeleted(tx.sql, userId, clock.now());
          return together(changed, await endLogins(tx, { userId }));
        }
        if (user.home_id === clientId) await store.moveHome(tx.sql, userId, next.client_id);
        return changed;
      });
      authenticator.forget(credentials);
    },
  };
}

function acceptedRole(principal: Principal, wanted: UserRole): Role {
  const role = findRole(wanted);
  if (!role) {
    const given = Object.values(wanted).join(' ');
    throw new InvalidError({ user_role: [`Invalid role: ${given}. Choose one of: ${roleChoices()}.`] });
  }
  if (isAbove(role.id, principal.roleId)) {
    throw new InvalidError({ user_role: [`You can't give the role ${role.name}, which is above yours.`] });
  }
  return role;
}
