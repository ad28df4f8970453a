import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Sql } from '../../db/database.ts';
import { KINDS, type Where } from './kinds.ts';
import { areAsked, isPlaceInReach, projectsIn, type Reach } from './reach.ts';

/** What a list asks for. Without a name the newest come first, with one its order decides. */
export interface ResourceFilter {
  kinds: readonly Where[];
  client_id?: readonly number[];
  project_id?: readonly number[];
  region_id?: readonly number[];
  state?: readonly string[];
  name?: NameFilter;
  from?: Date | undefined;
  before?: Date | undefined;
  /** By kind, if only these are asked for. */
  ids?: ReadonlyMap<string, readonly string[]>;
}

export interface NameFilter {
  text: string;
  /** Whether it is only the beginning. */
  begins: boolean;
}

/** The place of a row: its time in microseconds, or its name in lower case; then its kind and ID. */
export type Place = readonly [sort: number | string, kind: string, id: string];

export interface ResourceRow {
  kind: string;
  id: string;
  name: string | null;
  client_id: number | null;
  project_id: number | null;
  region_id: number | null;
  state: string | null;
  created_at: Date;
  task_id: string | null;
  sort: number | string;
}

export interface Found<Row, At> {
  rows: Row[];
  /** Where to go on; undefined at the end. */
  next: At | undefined;
}

/** What one request looks through for what a filter wants that no index finds. */
const MOST_SCANNED = 10_000;
const AFTER_ALL_TEXTS = '\u{10ffff}';

/**
 * Returns the next of them. There may be fewer than `limit` although more follow: what no index finds is looked for among
 * so many rows, and the next page goes on from there.
 */
export async function findResources(
  db: Sql,
  reach: Reach,
  filter: ResourceFilter,
  { after, limit, each }: { after?: Place | undefined; limit: number; each?: number },
): Promise<Found<ResourceRow, Place>> {
  const kinds = filter.kinds.filter(
    (one) =>
      (!filter.state || one.state) &&
      (!filter.name || one.name === 'one.name') &&
      (!filter.ids || filter.ids.has(one.kind)),
  );
  if (kinds.length === 0) return { rows: [], next: undefined };
  const projects = filter.ids ? undefined : await projectsIn(db, reach, filter);
  if (projects?.length === 0) return { rows: [], next: undefined };
  const search: Search = {
    reach,
    filter,
    projects,
    after,
    limit: each ?? limit + 1,
    scanned: Math.ceil(MOST_SCANNED / kinds.length),
  };
  const ascending = filter.name !== undefined;
  const { rows: found } = await sql<ResourceRow & { tie: string }>`
    select found.*, projects.client_id from (${union(kinds.map((where) => branchOf(where, search)))}) as found
    left join projects on projects.id = found.project_id
    order by ${orderBy(ascending)}
    limit ${each === undefined ? limit + 1 : each * kinds.length}`.execute(db);
  const edges = await edgesOf(db, kinds, search);
  const rows = found.map(({ tie: _, ...row }) => row);
  if (each !== undefined) return { rows, next: edges[0] };
  // Beyond where one kind was left off, rows of it may be missing.
  const [edge] = edges;
  const known = edge ? rows.filter((row) => !isAfter(placeOf(row), edge, ascending)) : rows;
  const page = known.slice(0, limit);
  const last = page.at(-1);
  return { rows: page, next: known.length > limit && last ? placeOf(last) : edge };
}

const placeOf = ({ sort, kind, id }: ResourceRow): Place => [sort, kind, id];

interface Search {
  reach: Reach;
  filter: ResourceFilter;
  projects: number[] | undefined;
  after: Place | undefined;
  limit: number;
  scanned: number;
}

const union = (parts: readonly RawBuilder<unknown>[]) => sql.join(parts, sql` union all `);

/** In the order of the list, also where several are of the same moment. */
const orderBy = (ascending: boolean) =>
  ascending
    ? sql`sort_name, kind collate "C", tie collate "C"`
    : sql`created_at desc, kind collate "C", tie collate "C" desc`;

function isAfter(one: Place, other: Place, ascending: boolean): boolean {
  const [sort, kind, id] = one;
  const [otherSort, otherKind, otherId] = other;
  if (sort !== otherSort) return ascending ? sort > otherSort : sort < otherSort;
  if (kind !== otherKind) return kind > otherKind;
  if (id === otherId) return false;
  const isLater = id.length === otherId.length ? id > otherId : id.length > otherId.length;
  return ascending ? isLater : !isLater;
}

const NAME = sql`lower(one.name) collate "C"`;

/** The columns of a row; the rest is found for the rows of a page. */
function columnsOf(where: Where, name: NameFilter | undefined) {
  const tie = where.ids === 'uuid' ? sql`one.id::text` : sql`lpad(one.id::text, 20, '0')`;
  const created = sql.raw(where.created);
  return sql`${where.kind}::text as kind, one.id::text as id, ${sql.raw(where.name ?? 'null')}::text as name,
    ${sql.raw(where.project)} as project_id, ${sql.raw(where.region)} as region_id,
    ${sql.raw(where.state ?? 'null')}::text as state, ${created} as created_at,
    ${sql.raw(where.task ?? 'null')}::text as task_id, ${tie} as tie,
    ${name ? sql`${NAME}` : sql`(extract(epoch from ${created}) * 1000000)::bigint`} as sort,
    ${name ? sql`${NAME}` : sql`''::text`} as sort_name`;
}

const parentOf = ({ parent }: Where) =>
  parent ? sql.raw(`join ${parent.table} as parent on parent.id = one.${parent.column}`) : sql``;

export const all = (conditions: readonly RawBuilder<SqlBool>[]) =>
  conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);

function branchOf(where: Where, search: Search): RawBuilder<unknown> {
  const { filter, limit, projects, reach } = search;
  const columns = columnsOf(where, filter.name);
  const order = orderOf(where, filter);
  const wanted = [...filtered(where, filter), ...seenBy(where, reach)];
  const ids = filter.ids?.get(where.kind);
  if (ids) {
    return sql`(select ${columns} from ${sql.table(where.table)} as one ${parentOf(where)}
      left join projects on projects.id = ${sql.raw(where.project)}
      where one.id = any(${ids}::${sql.raw(where.ids)}[]) and ${all([...wanted, ...bounds(where, search), ...ownership(search)])}
      order by ${order} limit ${limit})`;
  }
  if (projects) {
    const { parent } = where;
    const rows = parent
      ? sql`${sql.table(parent.table)} as parent join ${sql.table(where.table)} as one on ${sql.ref(`one.${parent.column}`)} = parent.id`
      : sql`${sql.table(where.table)} as one`;
    return sql`(select found.* from unnest(${projects}::bigint[]) as place cross join lateral (
        select ${columns} from ${rows}
        where ${sql.raw(where.project)} = place and ${all([...wanted, ...bounds(where, search)])}
        order by ${order} limit ${limit}
      ) as found order by ${sql.raw(filter.name ? 'sort_name, tie collate "C"' : 'created_at desc, tie collate "C" desc')} limit ${limit})`;
  }
  if (!isPicky(where, search)) {
    return sql`(select ${columns} from ${sql.table(where.table)} as one ${parentOf(where)}
      where ${all([...bounds(where, search), ...unusual(where, filter)])} order by ${order} limit ${limit})`;
  }
  const owner = isOwned(search) ? sql`join projects on projects.id = ${sql.raw(where.project)}` : sql``;
  return sql`(select ${columns} from (
      select one.* from ${sql.table(where.table)} as one where ${all([...bounds(where, search), ...unusual(where, filter)])}
      order by ${order} limit ${search.scanned}
    ) as one ${parentOf(where)} ${owner}
    where ${all([...wanted, ...ownership(search)])} order by ${order} limit ${limit})`;
}

const orderOf = ({ created }: Where, { name }: ResourceFilter) =>
  name ? sql`${NAME}, one.id` : sql`${sql.raw(created)} desc, one.id desc`;

const isOwned = ({ reach, filter }: Search) =>
  !reach.all || filter.client_id !== undefined || filter.project_id !== undefined;

/** Conditions on the owner, whose project is `projects`. */
const ownership = (search: Search): RawBuilder<SqlBool>[] =>
  isOwned(search)
    ? [isPlaceInReach(search.reach, sql`projects.client_id`, sql`projects.id`), ...areAsked(search.filter)]
    : [];

const seenBy = ({ seen }: Where, { all: everything, userId }: Reach): RawBuilder<SqlBool>[] =>
  seen === null || everything ? [] : [sql<SqlBool>`${sql.raw(seen.replace('viewer', String(Number(userId))))}`];

/** What an index bounds: a part of the order. */
function bounds(where: Where, { filter, after }: Search): RawBuilder<SqlBool>[] {
  const { name } = filter;
  const conditions: RawBuilder<SqlBool>[] = [];
  if (name) {
    conditions.push(
      name.begins
        ? sql<SqlBool>`${NAME} >= lower(${name.text}) and ${NAME} < lower(${name.text}) || ${AFTER_ALL_TEXTS}`
        : sql<SqlBool>`${NAME} = lower(${name.text})`,
    );
  }
  if (!name) conditions.push(...inPeriod(where, filter));
  if (after) conditions.push(afterPlace(where, after, name !== undefined));
  return conditions;
}

function inPeriod({ created }: Where, { from, before }: ResourceFilter): RawBuilder<SqlBool>[] {
  return [
    ...(from ? [sql<SqlBool>`${sql.raw(created)} >= ${from}`] : []),
    ...(before ? [sql<SqlBool>`${sql.raw(created)} < ${before}`] : []),
  ];
}

function afterPlace({ kind, created, ids }: Where, [sort, lastKind, id]: Place, byName: boolean): RawBuilder<SqlBool> {
  const key = byName ? NAME : sql.raw(created);
  const at = byName
    ? sql`${sort}::text collate "C"`
    : sql`'epoch'::timestamptz + ${sort}::bigint * interval '1 microsecond'`;
  const later = sql.raw(byName ? '>' : '<');
  if (kind === lastKind) return sql<SqlBool>`(${key}, one.id) ${later} (${at}, ${id}::${sql.raw(ids)})`;
  return kind > lastKind ? sql<SqlBool>`${key} ${later}= ${at}` : sql<SqlBool>`${key} ${later} ${at}`;
}

/** States that few rows are in are found by an index of their own. As text, since the planner needs to know them for it. */
function unusual({ state, usual }: Where, filter: ResourceFilter): RawBuilder<SqlBool>[] {
  if (!filter.state || !state || !usual || filter.name) return [];
  if (filter.state.some((one) => usual.includes(one))) return [];
  return [sql<SqlBool>`${sql.raw(state)} in (${sql.join(filter.state.map((one) => sql.lit(one)))})`];
}

/** Whether rows have to be looked at one by one. */
const isPicky = (where: Where, search: Search): boolean =>
  isOwned(search) ||
  search.filter.region_id !== undefined ||
  (search.filter.name !== undefined && (search.filter.from ?? search.filter.before) !== undefined) ||
  (search.filter.state !== undefined && unusual(where, search.filter).length === 0);

function filtered(where: Where, filter: ResourceFilter): RawBuilder<SqlBool>[] {
  const { region, state } = where;
  return [
    // Else they are bounds.
    ...(filter.name ? inPeriod(where, filter) : []),
    ...(filter.region_id ? [sql<SqlBool>`${sql.raw(region)} = any(${[...filter.region_id]})`] : []),
    ...(filter.state && state ? [sql<SqlBool>`${sql.raw(state)} = any(${[...filter.state]})`] : []),
  ];
}

/** Returns the last rows that were looked at of kinds that have more, the first of them first. */
async function edgesOf(db: Sql, kinds: readonly Where[], search: Search): Promise<Place[]> {
  if (search.filter.ids || search.projects) return [];
  const picky = kinds.filter((where) => isPicky(where, search));
  if (picky.length === 0) return [];
  const { name } = search.filter;
  const parts = picky.map(
    (
      where,
    ) => sql`(select ${columnsOf({ ...where, project: 'null::bigint', region: 'null::bigint', state: null, task: null, name: null }, name)}
      from ${sql.table(where.table)} as one where ${all([...bounds(where, search), ...unusual(where, search.filter)])}
      order by ${orderOf(where, search.filter)} offset ${search.scanned - 1} limit 1)`,
  );
  const { rows } = await sql<ResourceRow>`
    select * from (${union(parts)}) as edges order by ${orderBy(name !== undefined)}`.execute(db);
  return rows.map(placeOf);
}

/** Returns what has an address now: ports, what they belong to, floating IPs, and what else names addresses. */
export async function havingAddress(
  db: Sql,
  reach: Reach,
  address: string,
): Promise<{ ids: Map<string, string[]>; complete: boolean }> {
  const projects = await projectsIn(db, reach, {});
  const mine = (project: RawBuilder<unknown>) =>
    projects
      ? sql<SqlBool>`${project} = any(${projects})`
      : reach.all
        ? sql`true`
        : sql<SqlBool>`exists (
      select from projects where projects.id = ${project} and ${isPlaceInReach(reach, sql`projects.client_id`, sql`projects.id`)})`;
  const at = sql`${address}::inet`;
  // Few projects are looked through themselves if that is less.
  const most = projects ? sql`` : sql`limit ${MOST_SCANNED}`;
  const { rows } = await sql<{ kind: string; id: string }>`
    with near as materialized (
      select ports.id, ports.instance_id, ports.load_balancer_id, ports.project_id from (
        select port_id from ip_assignments where address = ${at} and port_id is not null ${most}
      ) as assigned join ports on ports.id = port_id where ${mine(sql`ports.project_id`)} limit ${MOST_HAVING}
    )
    select 'port' as kind, id::text as id from near
    union select 'instance', instance_id::text from near where instance_id is not null
    union select 'load_balancer', load_balancer_id::text from near where load_balancer_id is not null
    union select 'floating_ip', id::text from (
      select id, project_id from floating_ips where address = ${at}
    ) as floating where ${mine(sql`project_id`)}
    union select 'router', routers.id::text from (
      select router_id from router_interfaces where address = ${at}
      union select router_id from ip_assignments where address = ${at} and router_id is not null
      ${most}
    ) as inside join routers on routers.id = router_id where ${mine(sql`routers.project_id`)}
    union select 'load_balancer_member', id::text from (
      select id, project_id from lb_members where address = ${at} ${most}
    ) as members where ${mine(sql`project_id`)}
    union select 'ddos_profile', id::text from ddos_profiles where address = ${at} and ${mine(sql`project_id`)}
    limit ${MOST_HAVING}`.execute(db);
  const ids = new Map<string, string[]>();
  for (const { kind, id } of rows) ids.set(kind, [...(ids.get(kind) ?? []), id]);
  return { ids, complete: rows.length < MOST_HAVING };
}

/** The same private address is in many networks. */
const MOST_HAVING = 1_000;

/** The kinds with an integer for an ID, or with a UUID. */
export const kindsById = (ids: Where['ids']): Where[] => KINDS.filter((where) => where.ids === ids);
