import type { Sql } from '../../../db/database.ts';
import { ConflictError, ForbiddenError, NotFoundError } from '../../../lib/errors.ts';
import { noteAccount } from '../../../lib/request-context.ts';
import type { Platform } from '../../../platform.ts';
import type { Principal } from '../../../requests/principal.ts';
import { lockClients } from '../../accounts/service.ts';
import { findRoleByText, roleOf } from '../../identity/schema.ts';
import { mailChange, removeSecondFactors } from '../../logins/second-factors/in-transaction.ts';
import { requireMemberAccount, requireStaffing } from '../members.ts';
import { looksAfter } from '../rights.ts';
import { presentedUser } from '../schema.ts';
import { findUser, membershipsOf } from '../store.ts';
import type { SetSignInPolicy, SignInPolicy } from './schema.ts';

/* What an account requires of its users to sign in, and the help for those who lost their second factor. */

/** @throws ForbiddenError */
export async function getSignInPolicy(on: Platform, principal: Principal, clientId: number): Promise<SignInPolicy> {
  await requireMemberAccount(on, principal, clientId);
  return policyOf(on.database.sql, clientId);
}

async function policyOf(db: Sql, clientId: number): Promise<SignInPolicy> {
  const row = await db
    .selectFrom('sign_in_policies')
    .select(['second_factor', 'role_ids'])
    .where('client_id', '=', clientId)
    .executeTakeFirst();
  return {
    second_factor: row?.second_factor ?? 'optional',
    roles: (row?.role_ids ?? []).map((id) => roleOf(id).name),
  };
}

/**
 * Users whom it concerns, and who have no second factor, add one at their next login; a present one can't be refreshed.
 * @throws ForbiddenError, ConflictError if the caller in person would be concerned
 */
export async function setSignInPolicy(
  on: Platform,
  principal: Principal,
  clientId: number,
  { second_factor, roles = [] }: SetSignInPolicy,
): Promise<SignInPolicy> {
  await requireStaffing(on, principal, clientId);
  const ids = roles.flatMap((name) => findRoleByText(name)?.id ?? []);
  const policy = { second_factor, role_ids: ids.length === 0 ? null : ids };
  return on.database.accept(async (tx) => {
    await lockClients(tx, [clientId]);
    await requireStaffing(on, principal, clientId, tx.sql);
    const concerned =
      principal.clientId === clientId && (ids.length === 0 || ids.some((one) => one === principal.roleId));
    if (second_factor === 'required' && concerned && principal.inPerson) {
      const user = await findUser(tx.sql, principal.userId);
      if (!user?.two_fa) throw new ConflictError('Add a second factor to your own login first');
    }
    await tx.sql
      .insertInto('sign_in_policies')
      .values({ client_id: clientId, ...policy })
      .onConflict((one) => one.column('client_id').doUpdateSet(policy))
      .execute();
    return policyOf(tx.sql, clientId);
  });
}

/**
 * Leaves a user only the password, such as one who lost their phone. Ends their logins.
 * @throws NotFoundError, ForbiddenError for the caller themselves, and for users whom the caller doesn't look after
 */
export async function resetSecondFactors(on: Platform, principal: Principal, id: number): Promise<void> {
  const ended = await on.database.accept(async (tx) => {
    const memberships = await membershipsOf(tx.sql, [id]);
    await lockClients(
      tx,
      memberships.map(({ client_id }) => client_id),
    );
    const user = await findUser(tx.sql, id);
    const places = await membershipsOf(tx.sql, [id]);
    if (!user || !presentedUser(user, places, principal)) throw new NotFoundError('User', id);
    if (principal.userId === id) {
      throw new ForbiddenError('Your own second factors you remove one by one, with your password');
    }
    if (!looksAfter(principal, user, places)) {
      throw new ForbiddenError(
        `User ${id} has more rights than you or also belongs to other accounts: ask the administrator of the platform`,
      );
    }
    noteAccount(user.home_id);
    const ended = await removeSecondFactors(tx, id);
    await mailChange(on, tx, id, { event: 'reset' });
    return ended;
  });
  on.authenticator.forget(ended);
}
