import { describe, expect, it } from 'vitest';
import { type Principal, ROLES } from '../../requests/principal.ts';
import { acceptedRole, findRole, findRoleByText, isAbove, lesserRole, roleOf } from './schema.ts';

describe('roles', () => {
  it('are found by id, by name and by both when they agree', () => {
    expect(findRole({ id: 5 })).toBe(ROLES.engineers);
    expect(findRole({ name: 'Users' })).toBe(ROLES.users);
    expect(findRole({ id: 1, name: 'Administrators' })).toBe(ROLES.administrators);
    expect(findRole({ id: 1, name: 'Users' })).toBeUndefined();
    expect(findRole({})).toBeUndefined();
    expect(findRoleByText('3009')).toBe(ROLES.purgeEverywhere);
    expect(findRoleByText('Purge and Prefetch only (API)')).toBe(ROLES.purgeByApi);
    expect(findRoleByText('administrators')).toBeUndefined();
  });

  it('are above each other by rights, which is not the order of their ids', () => {
    expect(isAbove(ROLES.engineers.id, ROLES.users.id)).toBe(true);
    expect(isAbove(ROLES.users.id, ROLES.engineers.id)).toBe(false);
    expect(isAbove(ROLES.users.id, ROLES.users.id)).toBe(false);
    expect(isAbove(ROLES.administrators.id, ROLES.engineers.id)).toBe(true);
  });

  it('come in this order', () => {
    const { administrators, engineers, users, purgeEverywhere, purgeByApi } = ROLES;
    const ranks = [administrators, engineers, users, purgeEverywhere, purgeByApi].map(({ id }) => id);
    expect(ranks.toSorted((one, other) => (isAbove(one, other) ? -1 : 1))).toEqual(ranks);
    expect(lesserRole(ranks[0] ?? 0, ranks[4] ?? 0)).toBe(ranks[4]);
    expect(lesserRole(ranks[4] ?? 0, ranks[0] ?? 0)).toBe(ranks[4]);
    expect(() => roleOf(4)).toThrow('no role 4');
  });

  const accepted = (roleId: number, wanted: { id?: number; name?: string }) =>
    acceptedRole({ roleId } as Principal, wanted, {
      field: 'role',
      above: ({ name }) => `${name} is too much`,
    });

  it('are given up to the own one, and that of users when none is named', () => {
    expect(accepted(ROLES.administrators.id, {})).toBe(ROLES.users);
    expect(accepted(ROLES.engineers.id, { id: ROLES.engineers.id })).toBe(ROLES.engineers);
    expect(() => accepted(ROLES.engineers.id, { name: 'Administrators' })).toThrow('role: Administrators is too much');
    expect(() => accepted(ROLES.administrators.id, { id: 1, name: 'Users' })).toThrow(
      /role: Invalid role: 1 Users\. Choose one of: Administrators \(1\), /,
    );
  });
});
