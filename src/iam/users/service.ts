import type { Database, Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { requireEmail } from '../../lib/email.ts';
import { type FieldProblem, ForbiddenError, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { pagesAround } from '../../lib/page-address.ts';
import { insertAccount } from '../accounts/new-account.ts';
import type { ClientDirectory } from '../clients/directory.ts';
import type { Authenticator } from '../identity/authenticate.ts';
import { announceUser, type Credentials, endLogins, together } from '../identity/credentials.ts';
import type { Principal } from '../identity/principal.ts';
import type { PasswordCheck, Sender } from '../logins/password-check.ts';
import { hashPassword } from '../logins/passwords.ts';
import { presentedIn, presentedUser } from './presenter.ts';
import { requireAnotherAdministrator, requireRemovable } from './removal.ts';
import { looksAfter } from './rights.ts';
import {
  type ChangeEmail,
  type CreateUser,
  MAX_LIMIT,
  type UpdateUser,
  type User,
  type UserListQuery,
  type UserPage,
} from './schema.ts';
import * as store from './store.ts';

/** What every account has, and no other service. */
const OFFERED: readonly string[] = ['CLOUD', 'STREAMING'];

/** Users. One who has no account in common with the caller is not found. */
export interface Users {
  /** Of the caller's own account. */
  list(principal: Principal, query: UserListQuery): Promise<UserPage>;
  /** Of one account, as its own users see them. */
  ofClient(clientId: number): Promise<User[]>;
  /** @throws NotFoundError */
  get(principal: Principal, id: number): Promise<User>;
  /** @throws NotFoundError, ForbiddenError for a user whom the caller doesn't look after, InvalidError, ConflictError */
  update(principal: Principal, id: number, request: UpdateUser): Promise<User>;
  /** @throws ForbiddenError for another user, InvalidError, TooManyRequestsError */
  changeEmail(
    principal: Principal,
    id: number,
    request: ChangeEmail,
    from: Sender,
  ): Promise<{ new_email: string }>;
  /** A user with an account of the caller's reseller. @throws InvalidError, ForbiddenError */
  create(principal: Principal, request: CreateUser): Promise<User>;
  /** @throws NotFoundError, ForbiddenError for one with API tokens, ConflictError for the last administrator of an account */
  delete(principal: Principal, id: number): Promise<void>;
}

export function createUsers(deps: {
  database: Database;
  clock: Clock;
  authenticator: Authenticator;
  passwords: PasswordCheck;
  clients: ClientDirectory;
  prepareProjects: (tx: Transaction, clientId: number) => Promise<void>;
}): Users {
  const { database, clock, authenticator, passwords, clients, prepareProjects } = deps;

  async function found(sql: Transaction['sql'], principal: Principal, id: number) {
    const row = await store.findUser(sql, id);
    const memberships = await store.membershipsOf(sql, [id]);
    const user = row && presentedUser(row, memberships, principal);
    if (!row || !user) throw new NotFoundError('User', id);
    return { row, memberships, user };
  }

  return {
    async list(principal, { limit = MAX_LIMIT, offset = 0 }) {
      const page = { limit, offset };
      const { count, rows } = await store.listUsers(database.sql, principal.clientId, page);
      const memberships = await store.membershipsOf(
        database.sql,
        rows.map(({ id }) => id),
      );
      return {
        count,
        ...pagesAround('/iam/users', page, count),
        results: rows.flatMap((row) => presentedUser(row, memberships, principal) ?? []),
      };
    },

    async ofClient(clientId) {
      const page = { limit: MAX_LIMIT, offset: 0 };
      const { rows } = await store.listUsers(database.sql, clientId, page);
      const memberships = await store.membershipsOf(
        database.sql,
        rows.map(({ id }) => id),
      );
      return rows.flatMap((row) => {
        const meant = memberships.find(
          ({ user_id, client_id }) => user_id === row.id && client_id === clientId,
        );
        return meant ? [presentedIn(row, meant)] : [];
      });
    },

    get: async (principal, id) => (await found(database.sql, principal, id)).user,

    async update(principal, id, request) {
      const { row } = await found(database.sql, principal, id);
      const changes = acceptedChanges(principal, row, request);
      const done = await database.accept(principal, async (tx) => {
        const { memberships } = await found(tx.sql, principal, id);
        if (changes.is_active === false) await requireDispensable(tx, id, memberships);
        await store.updateUser(tx.sql, id, changes);
        const { user } = await found(tx.sql, principal, id);
        return { user, credentials: await afterBlocking(tx, id, changes.is_active) };
      });
      authenticator.forget(done.credentials);
      return done.user;
    },

    async changeEmail(principal, id, request, from) {
      if (principal.userId !== id) throw new ForbiddenError('Only the user can change this address here');
      requireEmail(request.new_email, 'new_email');
      await passwords.again(id, request.password, 'password', from);
      await database.accept(principal, (tx) =>
        store.updateUser(tx.sql, id, { email: request.new_email }, 'new_email'),
      );
      return { new_email: request.new_email };
    },

    async create(principal, request) {
      const { resellerId } = principal;
      if (resellerId === undefined) {
        throw new ForbiddenError('The token belongs to no reseller, so that an account would belong to none');
      }
      requireEmail(request.email);
      const problems = serviceProblems(request.services ?? []);
      const sellerId = request.seller ?? null;
      if (sellerId !== null && !(await clients.isSeller(sellerId, resellerId))) {
        problems.push({ field: 'seller', message: `User with id:${sellerId} is no seller of yours.` });
      }
      if (problems.length > 0) throw new InvalidError(problems);
      const passwordHash = await hashPassword(request.password);
      return database.accept(principal, async (tx) => {
        const { clientId, userId } = await store.addressIsFree('email', () =>
          insertAccount(tx.sql, {
            company: request.company,
            resellerId,
            administrator: {
              email: request.email,
              name: request.name,
              phone: request.phone,
              lang: request.lang,
              passwordHash,
              resellerId: null,
              platformAdministrator: false,
            },
            details: {
              phone: request.phone ?? null,
              custom_id: request.custom_id ?? null,
              country_code: request.country_code ?? null,
              is_test: request.is_test ?? false,
              seller_id: sellerId,
            },
            now: clock.now(),
          }),
        );
        await prepareProjects(tx, clientId);
        return (await found(tx.sql, principal, userId)).user;
      });
    },

    async delete(principal, id) {
      const { row } = await found(database.sql, principal, id);
      if (!looksAfter(principal, row)) throw new NotFoundError('User', id);
      const ended = await database.accept(principal, async (tx) => {
        const clientIds = (await store.membershipsOf(tx.sql, [id])).map(({ client_id }) => client_id);
        await requireRemovable(tx, row, clientIds, clock.now());
        for (const clientId of clientIds) await store.deleteMembership(tx.sql, { clientId, userId: id });
        await store.markDeleted(tx.sql, id, clock.now());
        return together(await announceUser(tx, id), await endLogins(tx, { userId: id }));
      });
      authenticator.forget(ended);
    },
  };
}

type Changes = Pick<UpdateUser, 'email' | 'name' | 'phone' | 'lang' | 'is_active'>;

/** What the caller may change of that user. @throws ForbiddenError, InvalidError */
function acceptedChanges(principal: Principal, user: store.UserRow, request: UpdateUser): Changes {
  const { email, name, phone, lang, is_active } = request;
  const given = { email, name, phone, lang, is_active };
  const changes: Changes = Object.fromEntries(
    Object.entries(given).filter(
      ([field, value]) => value !== undefined && value !== user[field as keyof Changes],
    ),
  );
  const care = looksAfter(principal, user);
  const self = principal.userId === user.id;
  if (!care && !self) throw new ForbiddenError(`User ${user.id} is not yours to change`);
  if (changes.email !== undefined) {
    requireEmail(changes.email);
    if (!care) {
      const message = `Ask for it with the password: PUT /iam/users/${user.id}/email.`;
      throw new InvalidError({ email: [message] });
    }
  }
  if (changes.is_active !== undefined && (self || !care)) {
    throw new InvalidError({ is_active: ['Users can not block themselves or let themselves in.'] });
  }
  return changes;
}

async function requireDispensable(
  tx: Transaction,
  userId: number,
  memberships: readonly store.Membership[],
): Promise<void> {
  const clientIds = memberships.map(({ client_id }) => client_id);
  await store.lockClients(tx, clientIds);
  await requireAnotherAdministrator(tx, userId, clientIds);
}

async function afterBlocking(
  tx: Transaction,
  userId: number,
  isActive: boolean | undefined,
): Promise<Credentials> {
  if (isActive === undefined) return { tokens: [], logins: [] };
  return together(await announceUser(tx, userId), await endLogins(tx, { userId }));
}

function serviceProblems(services: NonNullable<CreateUser['services']>): FieldProblem[] {
  return services.flatMap(({ product_name: name, available }, index) => {
    if (available === undefined || available === null || available === OFFERED.includes(name)) return [];
    const message = available
      ? `This platform does not offer ${name}.`
      : `Every account has ${name}; it can not be left out.`;
    return [{ field: `services.${index}.available`, message }];
  });
}
