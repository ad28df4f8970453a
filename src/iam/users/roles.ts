import { InvalidError } from '../../lib/errors.ts';
import { type Principal, ROLES } from '../identity/principal.ts';
import { findRole, isAbove, type Role, roleChoices } from '../identity/roles.ts';
import type { UserRole } from './schema.ts';

/** The role that a request names; the one with the least rights in the cloud when it names none. @throws InvalidError */
export function acceptedRole(principal: Principal, wanted: UserRole): Role {
  const role = namesNone(wanted) ? ROLES.users : findRole(wanted);
  if (!role) {
    const given = Object.values(wanted).join(' ');
    throw new InvalidError({ user_role: [`Invalid role: ${given}. Choose one of: ${roleChoices()}.`] });
  }
  if (isAbove(role.id, principal.roleId)) {
    throw new InvalidError({ user_role: [`You can't give the role ${role.name}, which is above yours.`] });
  }
  return role;
}

export function namesNone({ id, name }: UserRole): boolean {
  return id === undefined && name === undefined;
}
