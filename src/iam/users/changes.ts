import { requireEmail } from '../../lib/email.ts';
import { ForbiddenError, InvalidError } from '../../lib/errors.ts';
import type { Principal } from '../../requests/principal.ts';
import type { User } from '../accounts/schema.ts';
import { looksAfter, placesInReach } from './rights.ts';
import type { UpdateUser } from './schema.ts';
import type { Membership, UserRow } from './store.ts';

/** What a request changes of a user; unchanged fields are absent. */
export interface Changes {
  profile: Pick<UpdateUser, 'name' | 'phone' | 'lang' | 'auth_types'>;
  email: string | undefined;
  isActive: boolean | undefined;
}

/** @throws ForbiddenError, InvalidError for changes that the caller may not make */
export function acceptedChanges(
  principal: Principal,
  { row, memberships, user }: { row: UserRow; memberships: readonly Membership[]; user: User },
  request: UpdateUser,
): Changes {
  const self = principal.userId === row.id;
  const care = isThemselves(principal, row, memberships) || looksAfter(principal, row, memberships);
  const places = placesInReach(principal, row, memberships);
  const { name, phone, lang, auth_types } = request;
  const profile: Changes['profile'] = Object.fromEntries(
    Object.entries({ name, phone, lang, auth_types }).filter(
      ([field, value]) => value !== undefined && !same(value, row[field as keyof UserRow]),
    ),
  );
  if (!care && (places.length === 0 || Object.keys(profile).length > 0)) throw notYours(row, places);
  const email = request.email === row.email ? undefined : request.email;
  if (email !== undefined) requireAddressChange(principal, row, email);
  const isActive = request.is_active === user.is_active ? undefined : request.is_active;
  if (isActive !== undefined) requireBlocking(self, places, row, principal);
  return { profile, email, isActive };
}

/**
 * Whether the caller is the user in person, or has any credential of a user who has no other account that it
 * could affect.
 */
function isThemselves(principal: Principal, user: UserRow, memberships: readonly Membership[]): boolean {
  if (principal.userId !== user.id) return false;
  return principal.inPerson === true || memberships.every(({ client_id: id }) => id === principal.clientId);
}

function notYours({ id }: UserRow, places: readonly Membership[]): ForbiddenError {
  return new ForbiddenError(
    places.length === 0
      ? `You may not change user ${id}`
      : `User ${id} also belongs to other accounts, so only the user can change their name, telephone number and the like`,
  );
}

/** A user who logs in with an address must know that it changes, and must be the one who wants it. */
function requireAddressChange(principal: Principal, user: UserRow, email: string): void {
  requireEmail(email);
  const refused = (message: string) => new InvalidError({ email: [message] });
  if (user.pending) throw refused('Take the invitation back and invite the other address.');
  if (principal.platformAdministrator) return;
  if (principal.userId === user.id) {
    throw refused(`Ask for it with the password: PUT /iam/users/${user.id}/email.`);
  }
  throw refused('Only the user can change it, with their password, or the administrator of the platform.');
}

function requireBlocking(
  self: boolean,
  places: readonly Membership[],
  user: UserRow,
  principal: Principal,
): void {
  const refused = (message: string) => new InvalidError({ is_active: [message] });
  if (self || places.length === 0) {
    throw refused('Users cannot block or unblock themselves.');
  }
  if (!user.is_active && !principal.platformAdministrator) {
    throw refused('The platform has blocked this user; only its administrator can unblock them.');
  }
}

function same(one: unknown, other: unknown): boolean {
  return Array.isArray(one) ? JSON.stringify(one) === JSON.stringify(other) : one === other;
}
