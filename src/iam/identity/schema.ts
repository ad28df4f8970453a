import { InvalidError } from '../../lib/errors.ts';
import { type Principal, ROLES } from '../../requests/principal.ts';

export type Role = (typeof ROLES)[keyof typeof ROLES];

/** A role by its id, its name or both. */
interface WantedRole {
  id?: number | undefined;
  name?: string | undefined;
}

/**
 * From the most rights to the fewest. The published rule "no higher role than the maker's" needs an order;
 * this order is ours.
 */
const BY_RANK: readonly Role[] = [
  ROLES.administrators,
  ROLES.engineers,
  ROLES.users,
  ROLES.purgeEverywhere,
  ROLES.purgeByApi,
];

/** Returns the role with that id, name or both. Undefined if there is none, or if the two disagree. */
export function findRole(wanted: WantedRole): Role | undefined {
  if (namesNone(wanted)) return undefined;
  return BY_RANK.find(
    (role) =>
      (wanted.id === undefined || role.id === wanted.id) && (wanted.name === undefined || role.name === wanted.name),
  );
}

/** Returns the role that one text names by id or name. */
export function findRoleByText(text: string): Role | undefined {
  return findRole(/^\d{1,9}$/.test(text) ? { id: Number(text) } : { name: text });
}

/** @throws Error for an id that the database's own check would have refused */
export function roleOf(id: number): Role {
  const role = findRole({ id });
  if (!role) throw new Error(`There is no role ${id}`);
  return role;
}

/** What the contract calls a user in an account. Rights beyond accounts only exist in the home account. */
export function userTypeOf(
  user: { home_id: number; reseller_id: number | null; is_seller: boolean },
  clientId: number,
): 'common' | 'reseller' | 'seller' {
  if (user.reseller_id === null || user.home_id !== clientId) return 'common';
  return user.is_seller ? 'seller' : 'reseller';
}

/** Whether `role` gives more rights than `than`. */
export function isAbove(role: number, than: number): boolean {
  return BY_RANK.indexOf(roleOf(role)) < BY_RANK.indexOf(roleOf(than));
}

/** Returns the error text for an unknown role. */
export function invalidRole(wanted: string): string {
  const choices = BY_RANK.map(({ id, name }) => `${name} (${id})`).join(', ');
  return `Invalid role: ${wanted}. Choose one of: ${choices}.`;
}

/**
 * Returns the role that a request names in `field`; by default the one with the fewest rights in the cloud.
 * @throws InvalidError
 */
export function acceptedRole(
  principal: Principal,
  wanted: WantedRole,
  { field, above }: { field: string; above: (role: Role) => string },
): Role {
  const role = namesNone(wanted) ? ROLES.users : findRole(wanted);
  if (!role) throw new InvalidError({ [field]: [invalidRole(Object.values(wanted).join(' '))] });
  if (isAbove(role.id, principal.roleId)) throw new InvalidError({ [field]: [above(role)] });
  return role;
}

export function namesNone({ id, name }: WantedRole): boolean {
  return id === undefined && name === undefined;
}

/** Returns the role with fewer rights. */
export function lesserRole(one: number, other: number): number {
  return isAbove(one, other) ? other : one;
}
