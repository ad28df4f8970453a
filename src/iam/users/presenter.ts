import type { Principal } from '../../requests/principal.ts';
import type { User } from '../accounts/schema.ts';
import { roleOf, userTypeOf } from '../identity/schema.ts';
import { mayKnow } from './rights.ts';
import type { Membership, UserRow } from './store.ts';

/** Returns a user as the caller may see them. Undefined if they have no account in common. */
export function presentedUser(
  user: UserRow,
  memberships: readonly Membership[],
  principal: Principal,
): User | undefined {
  const known = memberships.filter(
    (membership) => membership.user_id === user.id && mayKnow(principal, membership),
  );
  const meant =
    known.find(({ client_id }) => client_id === principal.clientId) ??
    known.find(({ client_id }) => client_id === user.home_id) ??
    known[0];
  return meant && presentedIn(user, meant, known);
}

/**
 * Returns a user as members of an account see them. Name and phone are only shown to those who know the
 * user's home account.
 */
export function presentedIn(user: UserRow, meant: Membership, known: readonly Membership[] = [meant]): User {
  const { id, name } = roleOf(meant.role_id);
  const atHome = known.some(({ client_id }) => client_id === user.home_id);
  return {
    id: user.id,
    email: user.email,
    name: atHome ? user.name : null,
    phone: atHome ? user.phone : null,
    company: meant.company,
    lang: user.lang,
    reseller: meant.reseller_id,
    client: meant.client_id,
    groups: [{ id, name }],
    user_type: userTypeOf(user, meant.client_id),
    auth_types: user.auth_types as User['auth_types'],
    deleted: false,
    activated: user.has_password,
    sso_auth: false,
    two_fa: false,
    is_active: user.is_active && meant.is_active,
    client_and_roles: known.map((membership) => ({
      client_id: membership.client_id,
      client_company_name: membership.company,
      user_roles: [roleOf(membership.role_id).name],
      user_id: user.id,
    })),
  };
}
