import { type InferResult, type RawBuilder, type Selectable, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { belongsTo, isIn, type Place, type Sql, type Transaction } from '../../../../db/database.ts';
import type { Tables } from '../../../../db/tables.ts';
import type { Span, Timing } from './timing.ts';

export type PolicyRow = InferResult<ReturnType<typeof policies>>[number];
export type PlainPolicy = Selectable<Tables['lifecycle_policies']>;
export type ScheduleRow = Omit<Selectable<Tables['snapshot_schedules']>, keyof Planned> & Planned;
export type TurnRow = Selectable<Tables['snapshot_turns']>;

/** What the JSON columns hold. */
interface Planned {
  timing: Timing;
  retention: Span | null;
}

/** Selects policies with their schedules, volumes and problems in one query. */
function policies(db: Sql, where: RawBuilder<boolean>) {
  return db
    .selectFrom('lifecycle_policies')
    .selectAll('lifecycle_policies')
    .select((policy) => [
      jsonArrayFrom(
        policy
          .selectFrom('snapshot_schedules')
          .select(['snapshot_schedules.id', 'policy_id', 'snapshot_schedules.user_id', 'timing'])
          .select(['max_quantity', 'retention', 'resource_name_template'])
          .$narrowType<Planned>()
          .whereRef('policy_id', '=', 'lifecycle_policies.id')
          .orderBy('snapshot_schedules.created_at')
          .orderBy('snapshot_schedules.id'),
      ).as('schedules'),
      jsonArrayFrom(
        policy
          .selectFrom('lifecycle_policy_volumes')
          .innerJoin('volumes', 'volumes.id', 'volume_id')
          .select(['volumes.id as volume_id', 'volumes.name as volume_name'])
          .whereRef('policy_id', '=', 'lifecycle_policies.id')
          .orderBy('volumes.name')
          .orderBy('volumes.id'),
      ).as('volumes'),
      jsonArrayFrom(
        policy
          .selectFrom('snapshot_turns')
          .innerJoin('snapshot_schedules as failing', 'failing.id', 'schedule_id')
          .select(['schedule_id', 'volume_id', 'problem', 'problem_since', 'try_at', 'prune_at'])
          .whereRef('failing.policy_id', '=', 'lifecycle_policies.id')
          .where('problem', 'is not', null)
          .orderBy('problem_since')
          .limit(100),
      ).as('problems'),
    ])
    .where(where);
}

export async function listPolicies(db: Sql, place: Place): Promise<PolicyRow[]> {
  return policies(db, isIn(place, 'lifecycle_policies')).orderBy('lifecycle_policies.id').execute();
}

export async function findPolicy(db: Sql, place: Place, id: number): Promise<PolicyRow | undefined> {
  return policies(db, belongsTo(place, 'lifecycle_policies'))
    .where('lifecycle_policies.id', '=', id)
    .executeTakeFirst();
}

/** Locks the policies against concurrent changes until the transaction ends, always in the same order. */
export async function lockPolicies(tx: Transaction, place: Place, ids: readonly number[]): Promise<PlainPolicy[]> {
  if (ids.length === 0) return [];
  return tx.sql
    .selectFrom('lifecycle_policies')
    .selectAll()
    .where('id', 'in', ids)
    .where(belongsTo(place))
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

/** Counts the policies of a place, one transaction after the other. */
export async function countPolicies(tx: Transaction, { projectId, regionId }: Place): Promise<number> {
  const key = `lifecycle_policies ${projectId} ${regionId}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`.execute(tx.sql);
  const { count } = await tx.sql
    .selectFrom('lifecycle_policies')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(isIn({ projectId, regionId }))
    .executeTakeFirstOrThrow();
  return count;
}

export async function insertPolicy(
  tx: Transaction,
  { projectId, regionId }: Place,
  policy: Pick<PlainPolicy, 'name' | 'status' | 'user_id'>,
): Promise<PlainPolicy> {
  return tx.sql
    .insertInto('lifecycle_policies')
    .values({ ...policy, project_id: projectId, region_id: regionId, created_at: tx.now, updated_at: tx.now })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Also for changes of its schedules and volumes, which make another version of it. */
export async function changePolicies(
  tx: Transaction,
  ids: readonly number[],
  change: Partial<Pick<PlainPolicy, 'name' | 'status'>> = {},
): Promise<void> {
  await tx.sql
    .updateTable('lifecycle_policies')
    .set({ ...change, updated_at: tx.now })
    .where('id', 'in', ids)
    .execute();
}

export async function deletePolicy(tx: Transaction, id: number): Promise<void> {
  await tx.sql.deleteFrom('lifecycle_policies').where('id', '=', id).execute();
}

export type NewSchedule = Omit<ScheduleRow, 'created_at' | 'revision'>;

export async function insertSchedules(tx: Transaction, list: readonly NewSchedule[]): Promise<void> {
  if (list.length === 0) return;
  const values = list.map((one, at) => ({
    ...one,
    timing: JSON.stringify(one.timing),
    retention: one.retention && JSON.stringify(one.retention),
    created_at: new Date(tx.now.getTime() + at),
  }));
  await tx.sql.insertInto('snapshot_schedules').values(values).execute();
}

export async function schedulesOf(tx: Transaction, policyIds: readonly number[]): Promise<ScheduleRow[]> {
  if (policyIds.length === 0) return [];
  return tx.sql
    .selectFrom('snapshot_schedules')
    .selectAll()
    .$narrowType<Planned>()
    .where('policy_id', 'in', policyIds)
    .execute();
}

export async function findSchedule(db: Sql, place: Place, id: string) {
  return db
    .selectFrom('snapshot_schedules')
    .innerJoin('lifecycle_policies', 'lifecycle_policies.id', 'policy_id')
    .selectAll('snapshot_schedules')
    .$narrowType<Planned>()
    .select(['status', 'lifecycle_policies.name as policy_name'])
    .where('snapshot_schedules.id', '=', id)
    .where(belongsTo(place, 'lifecycle_policies'))
    .executeTakeFirst();
}

export async function changeSchedule(
  tx: Transaction,
  id: string,
  change: Pick<ScheduleRow, 'max_quantity' | 'resource_name_template' | keyof Planned>,
): Promise<void> {
  const { timing, retention } = change;
  await tx.sql
    .updateTable('snapshot_schedules')
    .set({ ...change, timing: JSON.stringify(timing), retention: retention && JSON.stringify(retention) })
    .where('id', '=', id)
    .execute();
}

/** Returns the volumes with these IDs, without what belongs to them. */
export async function plainVolumes(db: Sql, place: Place, ids: string[]): Promise<Selectable<Tables['volumes']>[]> {
  if (ids.length === 0) return [];
  return db.selectFrom('volumes').selectAll().where('id', 'in', ids).where(belongsTo(place)).execute();
}

export async function volumesOf(tx: Transaction, policyId: number): Promise<string[]> {
  const rows = await tx.sql
    .selectFrom('lifecycle_policy_volumes')
    .select('volume_id')
    .where('policy_id', '=', policyId)
    .execute();
  return rows.map(({ volume_id }) => volume_id);
}

export async function countVolumes(tx: Transaction, policyIds: readonly number[]) {
  return tx.sql
    .selectFrom('lifecycle_policy_volumes')
    .select(({ fn }) => ['policy_id', fn.countAll<number>().as('count')])
    .where('policy_id', 'in', policyIds)
    .groupBy('policy_id')
    .execute();
}

export async function insertVolumes(tx: Transaction, policyIds: readonly number[], volumeIds: readonly string[]) {
  await tx.sql
    .insertInto('lifecycle_policy_volumes')
    .values(policyIds.flatMap((policy_id) => volumeIds.map((volume_id) => ({ policy_id, volume_id }))))
    .onConflict((one) => one.doNothing())
    .execute();
}

/** Takes volumes out of the policy, with what its schedules planned for them. */
export async function removeVolumes(tx: Transaction, policyId: number, volumeIds: readonly string[]): Promise<void> {
  await tx.sql
    .deleteFrom('lifecycle_policy_volumes')
    .where('policy_id', '=', policyId)
    .where('volume_id', 'in', volumeIds)
    .execute();
  await tx.sql
    .deleteFrom('snapshot_turns')
    .where('volume_id', 'in', volumeIds)
    .where('schedule_id', 'in', (schedule) =>
      schedule.selectFrom('snapshot_schedules').select('id').where('policy_id', '=', policyId),
    )
    .execute();
}

/** When a schedule takes its next snapshots; null while its policy is paused. */
export interface Plan {
  scheduleId: string;
  dueAt: Date | null;
}

/** Plans the next snapshots of volumes. What was planned for them before stays. */
export async function insertTurns(tx: Transaction, plans: readonly Plan[], volumeIds: readonly string[]) {
  if (plans.length === 0 || volumeIds.length === 0) return;
  const rows = plans.flatMap(({ scheduleId, dueAt }) =>
    volumeIds.map((volume_id) => ({
      schedule_id: scheduleId,
      volume_id,
      due_at: dueAt,
      try_at: dueAt,
      attempts: 0,
      make_room: false,
    })),
  );
  await tx.sql
    .insertInto('snapshot_turns')
    .values(rows)
    .onConflict((one) => one.doNothing())
    .execute();
}

/** Plans all snapshots of these schedules anew, and looks at those that they made. */
export async function planAnew(tx: Transaction, plans: readonly Plan[]): Promise<void> {
  await sql`
    update snapshot_turns
    set due_at = plan.due_at, try_at = plan.due_at, prune_at = case when plan.due_at is not null then ${tx.now}::timestamptz end,
      attempts = 0, problem = null, problem_since = null, make_room = false
    from unnest(${plans.map(({ scheduleId }) => scheduleId)}::uuid[],
      ${plans.map(({ dueAt }) => dueAt?.toISOString() ?? null)}::timestamptz[]) as plan (id, due_at)
    where schedule_id = plan.id`.execute(tx.sql);
}

/** Looks at the snapshots of a schedule, since others may have been kept long enough now. */
export async function pruneNow(tx: Transaction, scheduleId: string): Promise<void> {
  await tx.sql
    .updateTable('snapshot_turns')
    .set({ prune_at: tx.now })
    .where('schedule_id', '=', scheduleId)
    .where('due_at', 'is not', null)
    .execute();
}

export async function isAnythingDue(db: Sql, now: Date): Promise<boolean> {
  const { rows } = await sql<{ due: boolean }>`
    select exists (select from snapshot_turns where try_at <= ${now})
      or exists (select from snapshot_turns where prune_at <= ${now}) as due`.execute(db);
  return rows[0]?.due === true;
}

export type DueTurn = NonNullable<Awaited<ReturnType<typeof lockDueTurn>>>;

/** Returns a turn whose time has come and that nobody else holds, locked until the transaction ends. */
export async function lockDueTurn(tx: Transaction, which: 'try_at' | 'prune_at') {
  return tx.sql
    .selectFrom('snapshot_turns as turn')
    .innerJoin('snapshot_schedules as schedule', 'schedule.id', 'turn.schedule_id')
    .innerJoin('lifecycle_policies as policy', 'policy.id', 'schedule.policy_id')
    .innerJoin('projects', 'projects.id', 'policy.project_id')
    .innerJoin('clients', 'clients.id', 'projects.client_id')
    .leftJoin('volumes', 'volumes.id', 'turn.volume_id')
    .selectAll('turn')
    .select(['timing', 'max_quantity', 'retention', 'resource_name_template', 'schedule.policy_id'])
    .$narrowType<Planned>()
    .select(['schedule.user_id', 'user_client_id', 'policy.name as policy_name', 'policy.project_id'])
    .select(['policy.region_id', 'projects.client_id', 'projects.deletion_task_id'])
    .select('volumes.id as volume')
    .select(
      sql<boolean>`clients.status = 'paused' or exists (
        select from client_services where client_id = clients.id and service = 'CLOUD'
          and not (enabled and client_services.status in ('active', 'trial')))`.as('shut'),
    )
    .where(`turn.${which}`, '<=', tx.now)
    .orderBy(`turn.${which}`)
    .limit(1)
    .forUpdate('turn')
    .skipLocked()
    .executeTakeFirst();
}

export async function changeTurn(
  db: Sql,
  turn: Pick<TurnRow, 'schedule_id' | 'volume_id'>,
  change: Partial<Omit<TurnRow, 'schedule_id' | 'volume_id'>>,
): Promise<void> {
  await db
    .updateTable('snapshot_turns')
    .set(change)
    .where('schedule_id', '=', turn.schedule_id)
    .where('volume_id', '=', turn.volume_id)
    // It was paused meanwhile, or planned anew.
    .where('due_at', 'is not', null)
    .execute();
}

export async function deleteTurn(tx: Transaction, turn: Pick<TurnRow, 'schedule_id' | 'volume_id'>): Promise<void> {
  await tx.sql
    .deleteFrom('snapshot_turns')
    .where('schedule_id', '=', turn.schedule_id)
    .where('volume_id', '=', turn.volume_id)
    .execute();
}

export async function insertScheduled(
  tx: Transaction,
  snapshotId: string,
  turn: Pick<DueTurn, 'schedule_id' | 'policy_id' | 'volume_id'>,
): Promise<void> {
  const { schedule_id, policy_id, volume_id } = turn;
  await tx.sql
    .insertInto('scheduled_snapshots')
    .values({ snapshot_id: snapshotId, schedule_id, policy_id, volume_id, made_at: tx.now })
    .execute();
}

/** What a schedule has made of a volume. */
export interface Kept {
  /** The oldest that is kept long enough. */
  doomed: string | null;
  ready: number;
  /** When the oldest of those that stay was made. */
  oldest: Date | null;
  /** What became of the last one: null if it is gone. */
  last: string | null;
}

/** Returns what a schedule has made of a volume, and which one goes if so many are kept, and none that is older. */
export async function keptBy(
  db: Sql,
  { schedule_id, volume_id, made_id }: Pick<TurnRow, 'schedule_id' | 'volume_id' | 'made_id'>,
  { quantity, before }: { quantity: number; before: Date | null },
): Promise<Kept> {
  const { rows } = await sql<Kept>`
    with own as (
      select snapshots.id, status, made_at,
        count(*) filter (where status = 'available')
          over (order by made_at desc, snapshots.id desc rows unbounded preceding) as place
      from scheduled_snapshots join snapshots on snapshots.id = snapshot_id
      where schedule_id = ${schedule_id} and scheduled_snapshots.volume_id = ${volume_id}
        and status <> 'deleting'
    ), gone as (
      select id, made_at from own where status <> 'creating' and (place > ${quantity}::int or made_at <= ${before}::timestamptz)
    )
    select (select id from gone order by made_at, id limit 1) as doomed,
      (select count(*)::int from own where status = 'available') as ready,
      (select min(made_at) from own where id not in (select id from gone)) as oldest,
      (select status from snapshots where id = ${made_id}::uuid) as last`.execute(db);
  return rows[0] ?? { doomed: null, ready: 0, oldest: null, last: null };
}
