import { RESOURCES, type ResourceType } from './resources.ts';

/** A row, found by path parameters. */
export interface NamedRow {
  table: string;
  /** The column of each path parameter. */
  columns: Record<string, string>;
}

/** A resource with a version, which changes whenever its row does. */
export interface Versioned extends NamedRow {
  /** The parameter that must be a UUID; any other text matches no row. */
  uuid?: string;
  /** The resource that contains it, and the column with that resource's ID. */
  within?: NamedRow & { column: string };
  /** What connects it with accounts: these are locked before it, as everywhere else. */
  memberships?: { table: string; param: string; column: string };
  /** The field of the answer that already is the version. */
  field?: 'revision_number';
}

export const PROJECT_REGION_COLUMNS = { project_id: 'project_id', region_id: 'region_id' };

/** Returns the version of a resource of a project in a region that a UUID identifies. @throws TypeError for other kinds */
export function versioned(type: ResourceType): Versioned {
  const { table, params: [param] = [], revised } = RESOURCES[type];
  if (!revised || table === undefined || param === undefined) throw new TypeError(`${type} has no versions`);
  return { table, columns: { ...PROJECT_REGION_COLUMNS, [param]: 'id' }, uuid: param };
}

/** Returns a user whom a path parameter names. */
export function versionedUser(param: string): Versioned {
  const memberships = { table: 'client_users', param, column: 'user_id' };
  return { table: 'users', columns: { [param]: 'id' }, memberships };
}
