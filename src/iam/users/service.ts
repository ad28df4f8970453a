import { prepareProjects } from '../../cloud/network/project-changes/service.ts';
import type { Transaction } from '../../db/database.ts';
import { requireEmail } from '../../lib/email.ts';
import { type FieldProblem, ForbiddenError, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { pagesAround } from '../../lib/page.ts';
import { noteAccount } from '../../lib/request-context.ts';
import type { Platform } from '../../platform.ts';
import type { Principal } from '../../requests/principal.ts';
import { isOffered, type User } from '../accounts/schema.ts';
import * as accounts from '../accounts/service.ts';
import { insertUser } from '../accounts/users/in-transaction.ts';
import type { Role } from '../identity/schema.ts';
import { checkPasswordAgain, hashPassword, type Sender } from '../logins/passwords/service.ts';
import { insertAccount } from '../new-accounts/in-transaction.ts';
import { acceptedChanges, givenRole, requireStaffing, setActive, takeOut } from './members.ts';
import { placesInReach } from './rights.ts';
import * as schema from './schema.ts';
import * as store from './store.ts';

/* Users. A user who has no account in common with the caller is not found. */

/** A change of a user's address. */
export interface Moved {
  from: string;
  to: string;
}

async function found(sql: Transaction['sql'], principal: Principal, id: number) {
  const row = await store.findUser(sql, id);
  const memberships = await store.membershipsOf(sql, [id]);
  const user = row && schema.presentedUser(row, memberships, principal);
  if (!row || !user) throw new NotFoundError('User', id);
  return { row, memberships, user };
}

async function pageOf(on: Platform, clientId: number, page: { limit: number; offset: number }) {
  const { count, rows } = await store.listUsers(on.database.sql, clientId, page);
  const ids = rows.map(({ id }) => id);
  return { count, rows, memberships: await store.membershipsOf(on.database.sql, ids) };
}

/** Lists users of the caller's own account. */
export async function listUsers(
  on: Platform,
  principal: Principal,
  { limit = schema.MAX_LIMIT, offset = 0 }: schema.UserListQuery,
): Promise<schema.UserPage> {
  const page = { limit, offset };
  const { count, rows, memberships } = await pageOf(on, principal.clientId, page);
  return {
    count,
    ...pagesAround('/iam/users', page, count),
    results: rows.flatMap((row) => schema.presentedUser(row, memberships, principal) ?? []),
  };
}

/** Lists users of one account, as its own users see them. */
export async function usersOfClient(on: Platform, clientId: number): Promise<User[]> {
  const { rows, memberships } = await pageOf(on, clientId, { limit: schema.MAX_LIMIT, offset: 0 });
  return rows.flatMap((row) => {
    const meant = memberships.find(({ user_id, client_id }) => user_id === row.id && client_id === clientId);
    return meant ? [schema.presentedIn(row, meant)] : [];
  });
}

/** @throws NotFoundError */
export const getUser = async (on: Platform, principal: Principal, id: number): Promise<User> =>
  (await found(on.database.sql, principal, id)).user;

/**
 * Changes a user; blocking only affects the caller's accounts.
 * @throws NotFoundError, ForbiddenError for a user whom the caller doesn't manage, InvalidError, ConflictError
 */
export async function updateUser(
  on: Platform,
  principal: Principal,
  id: number,
  request: schema.UpdateUser,
): Promise<{ user: User; moved?: Moved }> {
  const done = await on.database.accept(async (tx) => {
    const { memberships } = await found(tx.sql, principal, id);
    await accounts.lockClients(
      tx,
      memberships.map(({ client_id }) => client_id),
    );
    const before = await found(tx.sql, principal, id);
    noteAccount(before.user.client);
    const { profile, email, isActive } = acceptedChanges(principal, before, request);
    await store.updateUser(tx.sql, id, profile);
    const credentials = await setActive(tx, principal, before, isActive);
    const address = { email: email ?? '', field: 'email', now: tx.now };
    const from = email === undefined ? undefined : await store.changeAddress(tx.sql, id, address);
    const { user } = await found(tx.sql, principal, id);
    return { user, credentials, ...(from !== undefined && { moved: { from, to: user.email } }) };
  });
  on.authenticator.forget(done.credentials);
  return { user: done.user, ...(done.moved && { moved: done.moved }) };
}

/** @throws ForbiddenError for another user, InvalidError, TooManyRequestsError */
export async function changeEmailOfUser(
  on: Platform,
  principal: Principal,
  id: number,
  { new_email: email, password }: schema.ChangeEmail,
  from: Sender,
): Promise<Moved> {
  if (principal.userId !== id) throw new ForbiddenError('Only the user can change this address here');
  requireEmail(email, 'new_email');
  await checkPasswordAgain(on, id, password, 'password', from);
  const former = await on.guesses.withAddress(id, () =>
    on.database.accept((tx) => store.changeAddress(tx.sql, id, { email, field: 'new_email', now: tx.now })),
  );
  return { from: former, to: email };
}

/** Makes a user and their own account, which belongs to the caller's reseller. @throws InvalidError, ForbiddenError */
export async function createUser(on: Platform, principal: Principal, request: schema.CreateUser): Promise<User> {
  const { resellerId } = principal;
  if (resellerId === undefined) {
    throw new ForbiddenError('The token belongs to no reseller, so the account would not belong to one either');
  }
  requireEmail(request.email);
  const problems = serviceProblems(request.services ?? []);
  if (problems.length > 0) throw new InvalidError(problems);
  const passwordHash = await hashPassword(request.password);
  const sellerId = request.seller ?? null;
  const make = async (tx: Transaction): Promise<User> => {
    await accounts.keepReseller(tx.sql, resellerId);
    if (sellerId !== null && !(await accounts.worksForReseller(tx, sellerId, resellerId))) {
      throw new InvalidError({ seller: [`User with id:${sellerId} does not work for your reseller.`] });
    }
    const { clientId, userId } = await store.addressIsFree('email', () =>
      insertAccount(tx.sql, {
        company: request.company,
        resellerId,
        administrator: {
          email: request.email,
          name: request.name ?? null,
          phone: request.phone ?? null,
          lang: request.lang,
          platform_administrator: false,
          password_hash: passwordHash,
          password_given: true,
        },
        details: {
          phone: request.phone ?? null,
          custom_id: request.custom_id ?? null,
          country_code: request.country_code ?? null,
          is_test: request.is_test ?? false,
          seller_id: sellerId,
        },
        products: decidedProducts(request.services ?? []),
        now: tx.now,
      }),
    );
    await prepareProjects(tx, on.catalog, clientId);
    tx.made(userId);
    return (await found(tx.sql, principal, userId)).user;
  };
  return on.guesses.withAddress(principal.userId, () => on.database.accept(make));
}

/** Makes a user of an account, who may log in at once. @throws InvalidError, ForbiddenError */
export async function createUserIn(
  on: Platform,
  principal: Principal,
  clientId: number,
  request: schema.CreateClientUser,
): Promise<Role> {
  await requireStaffing(on, principal, clientId);
  const { username: email, name = null } = request;
  requireEmail(email, 'username');
  const wanted = 'user_role' in request.user_role ? request.user_role.user_role : request.user_role;
  const role = givenRole(principal, wanted ?? {});
  const passwordHash = await hashPassword(request.password);
  const make = async (tx: Transaction): Promise<void> => {
    await accounts.lockToAdd(tx, clientId);
    await requireStaffing(on, principal, clientId, tx.sql);
    const user = {
      client_id: clientId,
      email,
      name,
      platform_administrator: false,
      password_hash: passwordHash,
      password_given: true,
      created_at: tx.now,
    };
    tx.made(await store.addressIsFree('username', () => insertUser(tx.sql, user, role.id)));
  };
  await on.guesses.withAddress(principal.userId, () => on.database.accept(make));
  return role;
}

/**
 * Removes a user from the only account from which the caller may remove them.
 * @throws NotFoundError, ForbiddenError for a user with API tokens or several such accounts, ConflictError
 * for the last administrator
 */
export async function deleteUser(on: Platform, principal: Principal, id: number): Promise<void> {
  const ended = await on.database.accept(async (tx) => {
    const clientId = await onlyPlace(tx, principal, id);
    await accounts.lockWithLookedAfter(tx, clientId, { userId: id });
    if ((await onlyPlace(tx, principal, id)) !== clientId) throw new NotFoundError('User', id);
    noteAccount(clientId);
    return takeOut(tx, id, clientId);
  });
  on.authenticator.forget(ended);
}

/** Returns the only account from which the caller may remove the user. @throws NotFoundError, ForbiddenError */
async function onlyPlace(tx: Transaction, principal: Principal, id: number): Promise<number> {
  const { row, memberships } = await found(tx.sql, principal, id);
  const [place, ...others] = placesInReach(principal, row, memberships);
  if (!place) throw new NotFoundError('User', id);
  if (others.length === 0) return place.client_id;
  const named = [place, ...others].map(({ client_id }) => client_id).join(', ');
  throw new ForbiddenError(
    `User ${id} belongs to the clients ${named}; take them out of all but one first: DELETE /iam/clients/{clientId}/client-users/${id}`,
  );
}

function serviceProblems(services: NonNullable<schema.CreateUser['services']>): FieldProblem[] {
  return services.flatMap(({ product_name: name, available }, index) => {
    if (name === undefined || !available || isOffered(name)) return [];
    return [{ field: `services.${index}.available`, message: `This platform does not offer ${name}.` }];
  });
}

function decidedProducts(services: NonNullable<schema.CreateUser['services']>) {
  return services.flatMap(({ product_name: product, available }) =>
    product === undefined || typeof available !== 'boolean' || !isOffered(product) ? [] : [{ product, available }],
  );
}
