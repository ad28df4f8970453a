import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Sql } from '../../db/database.ts';
import { allows, type Principal, projectsSeen } from '../../requests/principal.ts';

/** What a caller may look up: everything, the accounts of a reseller, or one account or some of its projects. */
export interface Reach {
  all: boolean;
  resellerId: number | undefined;
  clientId: number;
  projectIds: readonly number[] | undefined;
  userId: number;
}

export function reachOf(principal: Principal): Reach {
  return {
    all: principal.platformAdministrator,
    resellerId: allows(principal, 'resell') ? principal.resellerId : undefined,
    clientId: principal.clientId,
    projectIds: projectsSeen(principal),
    userId: principal.userId,
  };
}

/** A condition: the account is one of those. `client` is its ID, as SQL. */
export function isInReach(reach: Reach, client: RawBuilder<unknown>): RawBuilder<SqlBool> {
  if (reach.all) return sql<SqlBool>`true`;
  if (reach.resellerId === undefined) return sql<SqlBool>`${client} = ${reach.clientId}`;
  return sql<SqlBool>`exists (
    select from clients as managed where managed.id = ${client} and managed.reseller_id = ${reach.resellerId})`;
}

/** The same for something in a project, or in none. */
export function isPlaceInReach(
  reach: Reach,
  client: RawBuilder<unknown>,
  project: RawBuilder<unknown>,
): RawBuilder<SqlBool> {
  const account = isInReach(reach, client);
  return reach.projectIds ? sql<SqlBool>`${account} and ${project} = any(${[...reach.projectIds]})` : account;
}

/** So many are looked through one by one. With more, what is newest of all is looked through for theirs. */
const MOST_PLACES = 300;

interface Asked {
  client_id?: readonly number[];
  project_id?: readonly number[];
}

/** Returns the projects in reach of those asked for; undefined if they are too many, or all. */
export async function projectsIn(db: Sql, reach: Reach, asked: Asked): Promise<number[] | undefined> {
  if (reach.all && !asked.client_id && !asked.project_id) return undefined;
  const conditions = [isPlaceInReach(reach, sql`projects.client_id`, sql`projects.id`), ...areAsked(asked)];
  const { rows } = await sql<{ id: number }>`
    select projects.id from projects where ${sql.join(conditions, sql` and `)} limit ${MOST_PLACES + 1}`.execute(db);
  return rows.length > MOST_PLACES ? undefined : rows.map(({ id }) => id);
}

/** The condition of a list in which `projects` has the project. */
export function areAsked({ client_id, project_id }: Asked): RawBuilder<SqlBool>[] {
  return [
    ...(client_id ? [sql<SqlBool>`projects.client_id = any(${[...client_id]})`] : []),
    ...(project_id ? [sql<SqlBool>`projects.id = any(${[...project_id]})`] : []),
  ];
}

/** Returns the accounts in reach of those asked for; undefined if they are too many, or all. */
export async function clientsIn(db: Sql, reach: Reach, asked: readonly number[] | undefined) {
  if (reach.all && !asked) return undefined;
  const only = asked ? sql`id = any(${[...asked]})` : sql`true`;
  const { rows } = await sql<{ id: number }>`
    select id from clients where ${isInReach(reach, sql`clients.id`)} and ${only} limit ${MOST_PLACES + 1}`.execute(db);
  return rows.length > MOST_PLACES ? undefined : rows.map(({ id }) => id);
}
