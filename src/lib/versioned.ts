/** A row, by the columns that path parameters name. */
export interface NamedRow {
  table: string;
  /** Path parameter → column. */
  columns: Record<string, string>;
}

/** A resource that knows its version: the row whose change is a new version of it. */
export interface Versioned extends NamedRow {
  /** The parameter that is a UUID, or else names nothing. */
  uuid?: string;
  /** The resource that it is part of, and the column that holds its id. */
  within?: NamedRow & { column: string };
  /** The field of the answer that is the version already. */
  field?: 'revision_number';
}

export const PROJECT_REGION_COLUMNS = { project_id: 'project_id', region_id: 'region_id' };

/** A resource of a project in a region, which a UUID names. */
export function versionedIn(table: string, param: string): Versioned {
  return { table, columns: { ...PROJECT_REGION_COLUMNS, [param]: 'id' }, uuid: param };
}
