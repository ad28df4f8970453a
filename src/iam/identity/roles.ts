import { ROLES } from './principal.ts';

export type Role = (typeof ROLES)[keyof typeof ROLES];

/** From the most rights to the least. The published rule "no higher role than the maker's" needs an order; this one is ours. */
const BY_RANK: readonly Role[] = [
  ROLES.administrators,
  ROLES.engineers,
  ROLES.users,
  ROLES.purgeEverywhere,
  ROLES.purgeByApi,
];

/** The role named by its id, its name or both. Undefined when there is none, or when the two disagree. */
export function findRole(wanted: { id?: number | undefined; name?: string | undefined }): Role | undefined {
  if (wanted.id === undefined && wanted.name === undefined) return undefined;
  return BY_RANK.find(
    (role) =>
      (wanted.id === undefined || role.id === wanted.id) &&
      (wanted.name === undefined || role.name === wanted.name),
  );
}

/** The role named by one text, which holds an id or a name. */
export function findRoleByText(text: string): Role | undefined {
  return findRole(/^\d{1,9}$/.test(text) ? { id: Number(text) } : { name: text });
}

/** @throws Error for an id that the database's own check would have refused */
export function roleOf(id: number): Role {
  const role = findRole({ id });
  if (!role) throw new Error(`There is no role ${id}`);
  return role;
}

/** Whether `role` gives more rights than `than`. */
export function isAbove(role: number, than: number): boolean {
  return BY_RANK.indexOf(roleOf(role)) < BY_RANK.indexOf(roleOf(than));
}

/** The roles as a sentence lists them: `Administrators (1), Engineers (5), ...`. */
export function roleChoices(): string {
  return BY_RANK.map(({ id, name }) => `${name} (${id})`).join(', ');
}

/** The one of two roles that gives less rights. */
export function lesserRole(one: number, other: number): number {
  return isAbove(one, other) ? other : one;
}
