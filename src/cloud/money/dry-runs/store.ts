import { sql } from 'kysely';
import type { Kind } from '../../../backends/contract/backend.ts';
import type { Sql } from '../../../db/database.ts';
import { namesIn } from '../../../db/statements.ts';

/** A thing that a task waits for, with what is wanted of it; null if it must not exist. */
export interface StepRow {
  task_id: string;
  kind: Kind;
  id: string;
  region_id: number;
  spec: object | null;
  after: string[];
}

export interface TaskRow {
  id: string;
  task_type: string;
}

export async function tasksOf(db: Sql, ids: readonly string[]): Promise<TaskRow[]> {
  return db.selectFrom('tasks').select(['id', 'task_type']).where('id', 'in', ids).execute();
}

export async function stepsOf(db: Sql, taskIds: readonly string[]): Promise<StepRow[]> {
  const { rows } = await sql<StepRow>`
    select task_id, wants.kind, wants.id, wants.region_id, spec, after from task_wants
    join wants on wants.kind = task_wants.kind and wants.id = want_id
    where task_id = any(${taskIds}::uuid[]) order by wants.kind, wants.id`.execute(db);
  return rows;
}

export async function specsOf(db: Sql, things: readonly { kind: string; id: string }[]) {
  const { rows } = await sql<{ key: string; spec: object | null }>`
    select kind || ':' || id as key, spec from wants
    where (kind, id) in (${namesIn(things)})`.execute(db);
  return new Map(rows.map(({ key, spec }) => [key, spec]));
}

/** Returns the subnets among these whose addresses are public and cost something. */
export async function publicSubnets(db: Sql, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    select subnets.id from subnets join networks on networks.id = network_id
    where subnets.id = any(${ids}::uuid[]) and external`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** What the database knows of things, and their specs don't say. An image that is being made has the size of its volume. */
export interface Sizes {
  type: 'image' | 'snapshot';
  sku: string;
  amount: number;
}

export async function sizesOf(db: Sql, ids: readonly string[]): Promise<Map<string, Sizes>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<Sizes & { id: string }>`
    select id, 'snapshot' as type, volume_type as sku, size_gib as amount from snapshots where id = any(${ids}::uuid[])
    union all
    select id, 'image', '', greatest(coalesce(ceil(size_bytes / 1073741824.0), min_disk_gib), 1)::bigint from images
    where id = any(${ids}::uuid[])`.execute(db);
  return new Map(rows.map(({ id, ...size }) => [id, size]));
}
