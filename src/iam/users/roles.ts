import type { Principal } from '../../requests/principal.ts';
import { acceptedRole, type Role } from '../identity/schema.ts';
import type { UserRole } from './schema.ts';

/** Returns the role that a user is to have in an account. @throws InvalidError */
export function givenRole(principal: Principal, wanted: UserRole): Role {
  const above = ({ name }: Role) => `You can't give the role ${name}, which is above yours.`;
  return acceptedRole(principal, wanted, { field: 'user_role', above });
}
