import { describe, expect, it } from 'vitest';
import { ROLES } from '../../requests/principal.ts';
import { findRole, findRoleByText, isAbove } from './schema.ts';

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
});
