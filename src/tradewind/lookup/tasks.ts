import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Kind } from '../../backends/contract/backend.ts';
import { FAMILIES, familyOf } from '../../backends/contract/needs.ts';
import { ACTIVE, type TaskState } from '../../cloud/ground/tasks/states.ts';
import type { Sql } from '../../db/database.ts';
import { containing } from '../../lib/texts.ts';
import type { Platform } from '../../platform.ts';
import { areAsked, clientsIn, isPlaceInReach, type Reach } from './reach.ts';
import { all, type Found } from './resources.ts';

export interface TaskFilter {
  client_id?: readonly number[];
  project_id?: readonly number[];
  region_id?: readonly number[];
  task_type?: readonly string[];
  state?: readonly TaskState[];
  from?: Date | undefined;
  before?: Date | undefined;
  error?: string;
  ids?: readonly string[];
}

/** The place of a task: its time in microseconds, and its ID. */
export type TaskPlace = readonly [micros: number, id: string];

export interface TaskRow {
  id: string;
  task_type: string;
  state: TaskState;
  client_id: number;
  project_id: number | null;
  region_id: number | null;
  user_id: number;
  request_id: string | null;
  error: string | null;
  created_on: Date;
  updated_on: Date | null;
  finished_on: Date | null;
  deadline_at: Date;
  micros: number;
}

/** What one request looks through for what no index finds. */
const MOST_SCANNED = 5_000;

const MICROS = sql`(extract(epoch from created_on) * 1000000)::bigint as micros`;
const COLUMNS = sql`id, task_type, state, client_id, project_id, region_id, user_id, request_id, error, created_on, updated_on,
  finished_on, deadline_at, ${MICROS}`;

/** Returns the next tasks, the newest first. There may be fewer than `limit` although more follow, as of resources. */
export async function findTasks(
  db: Sql,
  reach: Reach,
  filter: TaskFilter,
  { after, limit }: { after?: TaskPlace | undefined; limit: number },
): Promise<Found<TaskRow, TaskPlace>> {
  const conditions = bounds(filter, after);
  const picked = [...picks(filter), ...(filter.state ? [isIn(filter.state)] : [])];
  if (filter.ids) {
    const { rows } = await sql<TaskRow>`
      select ${COLUMNS} from tasks
      where id = any(${[...filter.ids]}::uuid[]) and ${all([...conditions, ...picked, ...confines(reach, filter)])}
      ${NEWEST} limit ${limit + 1}`.execute(db);
    return pageOf(rows, [], limit);
  }
  const places = await placesIn(db, reach, filter);
  if (places?.ids.length === 0) return { rows: [], next: undefined };
  const wanted = places ? picked : [...picked, ...confines(reach, filter)];
  const scanned = Math.max(limit + 1, Math.ceil(MOST_SCANNED / (places?.ids.length ?? 1)));
  const inPlaces = (part: (conditions: readonly RawBuilder<SqlBool>[]) => RawBuilder<unknown>) =>
    places
      ? sql`(select task.* from unnest(${places.ids}::bigint[]) as place cross join lateral (${part([
          sql<SqlBool>`${sql.ref(places.column)} = place`,
          ...conditions,
        ])}) as task ${NEWEST} limit ${limit + 1})`
      : sql`(${part(conditions)})`;
  const states = groupsOf(filter.state);
  const { rows } = await sql<TaskRow>`
    select * from (${sql.join(
      states.map((group) =>
        inPlaces(
          (where) => sql`select ${COLUMNS} from (
              select * from tasks where ${all([...where, ...ofGroup(group)])} ${NEWEST} limit ${scanned}
            ) as scanned where ${all(wanted)} ${NEWEST} limit ${limit + 1}`,
        ),
      ),
      sql` union all `,
    )}) as found ${NEWEST} limit ${limit + 1}`.execute(db);
  const isPicky = filter.state?.includes('FINISHED') || wanted.length > (filter.state ? 1 : 0);
  if (!isPicky) return pageOf(rows, [], limit);
  const { rows: edges } = await sql<TaskRow>`
    select * from (${sql.join(
      states.map((group) =>
        inPlaces(
          (where) => sql`select id, created_on, ${MICROS} from tasks where ${all([...where, ...ofGroup(group)])}
            ${NEWEST} offset ${scanned - 1} limit 1`,
        ),
      ),
      sql` union all `,
    )}) as edges ${NEWEST} limit 1`.execute(db);
  return pageOf(rows, edges, limit);
}

const NEWEST = sql`order by created_on desc, id desc`;

/** Rows beyond the edge may lack others before them. */
function pageOf(rows: readonly TaskRow[], [edge]: readonly TaskRow[], limit: number): Found<TaskRow, TaskPlace> {
  const isBeyond = (row: TaskRow) =>
    edge !== undefined && (row.micros < edge.micros || (row.micros === edge.micros && row.id < edge.id));
  const known = rows.filter((row) => !isBeyond(row));
  const page = known.slice(0, limit);
  const last = known.length > limit ? page.at(-1) : edge;
  return { rows: page, next: last && [last.micros, last.id] };
}

/** Each of these has an index of its own; the empty one stands for all. */
function groupsOf(states: readonly TaskState[] | undefined): (readonly TaskState[])[] {
  if (!states || states.includes('FINISHED')) return [[]];
  const active = states.filter((state) => ACTIVE.includes(state));
  return [...(active.length > 0 ? [active] : []), ...(states.includes('ERROR') ? [['ERROR'] as const] : [])];
}

const ofGroup = (states: readonly TaskState[]) => (states.length === 0 ? [] : [isIn(states)]);

/** As text, since the planner needs to know them for the index. */
const isIn = (states: readonly TaskState[]): RawBuilder<SqlBool> =>
  sql<SqlBool>`state in (${sql.join(states.map((state) => sql.lit(state)))})`;

/** Returns whose tasks are looked through; undefined for all. Tasks outlive their projects. */
async function placesIn(db: Sql, reach: Reach, { client_id, project_id }: TaskFilter) {
  if (!project_id && !reach.projectIds) {
    const ids = await clientsIn(db, reach, client_id);
    return ids && { column: 'client_id', ids };
  }
  const { rows } = await sql<{ id: number }>`
    select id from (select id, client_id from projects union all select id, client_id from deleted_projects) as projects
    where ${all([
      isPlaceInReach(reach, sql`projects.client_id`, sql`projects.id`),
      ...areAsked({ ...(client_id && { client_id }), project_id: project_id ?? reach.projectIds ?? [] }),
    ])}`.execute(db);
  return { column: 'project_id', ids: rows.map(({ id }) => id) };
}

function bounds({ from, before }: TaskFilter, after: TaskPlace | undefined): RawBuilder<SqlBool>[] {
  const conditions: RawBuilder<SqlBool>[] = [];
  if (from) conditions.push(sql<SqlBool>`created_on >= ${from}`);
  if (before) conditions.push(sql<SqlBool>`created_on < ${before}`);
  if (after) {
    const [micros, id] = after;
    conditions.push(
      sql<SqlBool>`(created_on, id) < ('epoch'::timestamptz + ${micros}::bigint * interval '1 microsecond', ${id}::uuid)`,
    );
  }
  return conditions;
}

const confines = (reach: Reach, { client_id, project_id }: TaskFilter): RawBuilder<SqlBool>[] => [
  ...(reach.all ? [] : [isPlaceInReach(reach, sql.ref('client_id'), sql.ref('project_id'))]),
  ...(client_id ? [sql<SqlBool>`client_id = any(${[...client_id]})`] : []),
  ...(project_id ? [sql<SqlBool>`project_id = any(${[...project_id]})`] : []),
];

function picks({ region_id, task_type, error }: TaskFilter): RawBuilder<SqlBool>[] {
  return [
    ...(region_id ? [sql<SqlBool>`region_id = any(${[...region_id]})`] : []),
    ...(task_type ? [sql<SqlBool>`task_type = any(${[...task_type]})`] : []),
    ...(error === undefined ? [] : [sql<SqlBool>`error ilike ${containing(error)}`]),
  ];
}

/** So many tasks of one resource are looked at. */
const MOST_OF_RESOURCE = 1_000;

/** Returns the tasks that the log, what is wanted, or their rows connect with one of these resources. */
export async function tasksAbout(db: Sql, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ task_id: string }>`
    select task_id from (
      select task_id from user_actions
      where resource_ids && ${[...ids]}::text[] and api_group is not null and task_id is not null
      order by id desc limit ${MOST_OF_RESOURCE}
    ) as logged
    union select task_id from task_wants
    where want_id = any(${ids.filter((id) => id.length === 36)}::uuid[]) and kind = any(${Object.values(FAMILIES).flat()}::text[])`.execute(
    db,
  );
  return rows.map(({ task_id }) => task_id);
}

export interface Waiting {
  kind: string;
  id: string;
  state: 'waiting' | 'doing';
  doing: string | null;
  failures: number;
  worker: string | null;
  backend: string | null;
  due_at: Date | null;
}

/** Returns what each of these tasks waits for, what has failed most first. */
export async function waitingOf(on: Platform, ids: readonly string[]): Promise<ReadonlyMap<string, Waiting>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<Omit<Waiting, 'backend'> & { task_id: string; region_id: number | null }>`
    select distinct on (task_id) * from (
      select task_id, wants.kind, wants.id::text as id, case when worker_id is null then 'waiting' else 'doing' end as state,
        doing, failures, host || ':' || pid as worker, due_at, region_id
      from task_wants join wants on wants.kind = task_wants.kind and wants.id = want_id
        left join workers on workers.id = worker_id
      where task_id = any(${[...ids]}::uuid[])
        and (settled_generation is null or settled_generation < task_wants.generation)
      union all
      select task_id, 'task', behind::text, 'waiting', 'waiting for the end of task ' || behind, 0, null, due_at, null
      from waiting_deletions where task_id = any(${[...ids]}::uuid[])
      union all
      select task_id, step ->> 'kind', step ->> 'id', case step ->> 'state' when 'doing' then 'doing' else 'waiting' end,
        step ->> 'doing', 0, host || ':' || pid, null, null
      from deletions left join workers on workers.id = worker_id, jsonb_array_elements(steps) as step
      where task_id = any(${[...ids]}::uuid[]) and ended_at is null and step ->> 'state' <> 'removed'
    ) as open order by task_id, failures desc, state, kind, id`.execute(on.database.sql);
  return new Map(
    rows.map(({ task_id, region_id, ...row }) => [task_id, { ...row, backend: backendOf(on, region_id, row.kind) }]),
  );
}

/** The name of what makes that kind in a region; null for one that is no more in the catalogue. */
export function backendOf(on: Platform, regionId: number | null, kind: string): string | null {
  return regionId === null ? null : (on.catalog.backendOf(regionId, familyOf(kind as Kind))?.name ?? null);
}
