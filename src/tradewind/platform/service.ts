import os from 'node:os';
import { sql } from 'kysely';
import { type AiCapabilities, workKinds } from '../../../engines/index.ts';
import type { Kind } from '../../backends/contract/backend.ts';
import { familyOf } from '../../backends/contract/needs.ts';
import { READER_IS_DEAD } from '../../cloud/ground/catalog/service.ts';
import type { Sql } from '../../db/database.ts';
import { version } from '../../lib/own-program.ts';
import type { Platform } from '../../platform.ts';
import { type Principal, requirePlatform } from '../../requests/principal.ts';
import { LIVES } from '../../worker/heartbeat.ts';
import type { Orphans, PlatformBacklog, PlatformChecks, PlatformProcess, PlatformQueue } from './schema.ts';
import { QUEUES } from './schema.ts';

export const PLATFORM_DUTY = 'looks at the platform itself';
const refuseOthers = (principal: Principal): void => requirePlatform(principal, PLATFORM_DUTY);

interface Alive extends Pick<PlatformProcess, 'catalog_problem' | 'holds' | 'host' | 'pid' | 'regions' | 'worker_id'> {
  started_at: Date | null;
  seen_at: Date;
  capabilities: AiCapabilities | null;
}

/** Workers have heartbeats, and every process says which catalogue it works with: some twice. */
async function processesAlive(db: Sql): Promise<Alive[]> {
  const { rows } = await sql<Alive>`
    with claims as (
      select worker_id, 'infrastructure' as queue, count(*) from wants where worker_id is not null group by worker_id
      union all select worker_id, 'ai_tasks', count(*) from ai_task_runs group by worker_id
      union all select worker_id, 'deletions', count(*) from deletions
        where ended_at is null and worker_id is not null group by worker_id
      union all select worker_id, 'waiting_deletions', count(*) from waiting_deletions
        where worker_id is not null group by worker_id
      union all select worker_id, 'mails', count(*) from mails where worker_id is not null group by worker_id
      union all select worker_id, 'webhook_deliveries', count(*) from webhook_deliveries
        where worker_id is not null group by worker_id
    ), living as (
      select * from workers where ${LIVES}
    ), readers as (
      select host, pid, max(seen_at) as seen_at, max(problem) as problem from catalog_readers
      where not ${READER_IS_DEAD} group by host, pid
    )
    select host, pid, living.id as worker_id, started_at, greatest(beat_at, seen_at) as seen_at, capabilities, to_json(regions) as regions,
      problem as catalog_problem,
      coalesce((
        select jsonb_agg(jsonb_build_object('queue', queue, 'count', count) order by queue)
        from claims where worker_id = living.id
      ), '[]') as holds
    from living full join readers using (host, pid) order by host, pid, living.id`.execute(db);
  return rows;
}

export async function listProcesses(on: Platform, principal: Principal): Promise<{ results: PlatformProcess[] }> {
  refuseOthers(principal);
  const alive = await processesAlive(on.database.sql);
  const results = alive.map(({ capabilities, started_at, seen_at, ...one }) => ({
    ...one,
    started_at: started_at?.toISOString() ?? null,
    seen_at: seen_at.toISOString(),
    version: one.host === os.hostname() && one.pid === process.pid ? version : null,
    ai_kinds: capabilities ? workKinds(capabilities) : [],
  }));
  return { results };
}

interface Counted extends Record<'waiting' | 'running' | 'failing' | 'failed', number> {
  queue: PlatformQueue['queue'];
  kind: string | null;
  oldest: Date | null;
}

/** Counting goes on up to here where millions may wait. */
const MOST_COUNTED = 100_000;
/** No task goes on for so long. */
const LONGEST_TASK = sql`interval '15 days'`;
const WAITS = sql`count(*) filter (where worker_id is null)`;
const RUNS = sql`count(*) filter (where worker_id is not null)`;
const AI_KIND = sql`coalesce(task_data ->> 'category', task_name)`;

/**
 * Nobody looks through all that has ended, but for failed tasks: their index begins with the account, so that before PostgreSQL 18
 * all of it is read.
 */
async function countWork(db: Sql, now: Date): Promise<Counted[]> {
  const lately = sql`${now}::timestamptz - interval '1 hour'`;
  const { rows } = await sql<Counted>`
    select 'tasks' as queue, task_type as kind, count(*) filter (where state = 'NEW') as waiting,
      count(*) filter (where state = 'RUNNING') as running, min(created_on) filter (where state = 'NEW') as oldest,
      0 as failing, 0 as failed
    from tasks where state in ('NEW', 'RUNNING') group by task_type
    union all
    select 'tasks', task_type, 0, 0, null, 0, count(*) from tasks
    where state = 'ERROR' and created_on > ${lately} - ${LONGEST_TASK} and finished_on > ${lately} group by task_type
    union all
    select 'infrastructure', kind, ${WAITS}, ${RUNS},
      min(due_at) filter (where worker_id is null and due_at <= now()), count(*) filter (where failures > 0), 0
    from wants where worker_id is not null or (worker_id is null and due_at is not null) group by kind
    union all
    select 'ai_tasks', ${AI_KIND}, count(*), 0, min(created_at), count(*) filter (where status = 'RETRY'), 0
    from (
      select task_data, task_name, status, created_at from ai_tasks
      where status in ('PENDING', 'RECEIVED', 'RETRY') order by created_at limit ${MOST_COUNTED}
    ) as waiting group by 2
    union all
    select 'ai_tasks', ${AI_KIND}, 0, count(*), null, 0, 0
    from ai_task_runs join ai_tasks on ai_tasks.id = task_id group by 2
    union all
    select 'ai_tasks', ${AI_KIND}, 0, 0, null, 0, count(*)
    from ai_tasks where completed_at > ${lately} and status = 'FAILURE' group by 2
    union all
    select 'deletions', null, ${WAITS}, ${RUNS}, min(begun_at) filter (where worker_id is null), 0, 0
    from deletions where ended_at is null
    union all
    select 'deletions', null, 0, 0, null, 0, count(*) from deletions join tasks on tasks.id = task_id
    where ended_at > ${lately} and tasks.state = 'ERROR'
    union all
    select 'waiting_deletions', null, ${WAITS}, ${RUNS}, min(created_on) filter (where worker_id is null), 0, 0
    from waiting_deletions join tasks on tasks.id = task_id
    union all
    select 'mails', kind, ${WAITS}, ${RUNS}, min(created_at) filter (where worker_id is null),
      count(*) filter (where fault is not null), 0
    from (
      select kind, worker_id, created_at, fault from mails
      where state = 'pending' order by expires_at limit ${MOST_COUNTED}
    ) as pending group by kind
    union all
    select 'mails', kind, 0, 0, null, 0, count(*) from mails
    where ended_at > ${lately} and state = 'failed' group by kind
    union all
    select 'webhook_deliveries', null, ${WAITS}, ${RUNS}, min(created_at) filter (where worker_id is null),
      count(*) filter (where fault is not null), 0
    from (
      select worker_id, created_at, fault from webhook_deliveries
      where state = 'pending' order by expires_at limit ${MOST_COUNTED}
    ) as pending`.execute(db);
  return rows;
}

/** What is counted of each besides what waits and runs. */
const COUNTED: Readonly<Record<PlatformQueue['queue'], readonly ('failing' | 'failed')[]>> = {
  tasks: ['failed'],
  infrastructure: ['failing'],
  ai_tasks: ['failing', 'failed'],
  deletions: ['failed'],
  waiting_deletions: [],
  mails: ['failing', 'failed'],
  // No index finds those that were given up lately.
  webhook_deliveries: ['failing'],
};

function figuresOf(queue: PlatformQueue['queue'], rows: readonly Counted[]) {
  const sum = (of: 'waiting' | 'running' | 'failing' | 'failed') => rows.reduce((total, row) => total + row[of], 0);
  const counted = (of: 'failing' | 'failed') => (COUNTED[queue].includes(of) ? sum(of) : null);
  const times = rows.flatMap(({ oldest }) => oldest?.getTime() ?? []);
  return {
    waiting: sum('waiting'),
    running: sum('running'),
    oldest_waiting_since: times.length > 0 ? new Date(Math.min(...times)).toISOString() : null,
    failing: counted('failing'),
    failed_last_hour: counted('failed'),
  };
}

export async function listQueues(on: Platform, principal: Principal): Promise<{ results: PlatformQueue[] }> {
  refuseOthers(principal);
  const counted = await countWork(on.database.sql, on.clock.now());
  const results = (['tasks', ...QUEUES] as const).map((queue) => {
    const rows = counted.filter((row) => row.queue === queue);
    const kinds = [...new Set(rows.flatMap(({ kind }) => kind ?? []))].toSorted();
    return {
      queue,
      ...figuresOf(queue, rows),
      kinds: kinds.map((kind) => ({
        kind,
        ...figuresOf(
          queue,
          rows.filter((row) => row.kind === kind),
        ),
      })),
    };
  });
  return { results };
}

/** What is not as wanted, by what has to bring it about. */
export async function listBacklog(on: Platform, principal: Principal): Promise<PlatformBacklog> {
  refuseOthers(principal);
  const { rows: parts } = await sql<
    Omit<PlatformBacklog['results'][number], 'backend'> & { oldest: Date | null; kind: Kind }
  >`
    select region_id, kind, ${WAITS} as waiting, ${RUNS} as running, count(*) filter (where failures > 0) as failing,
      max(failures) as most_failures, min(due_at) filter (where worker_id is null and due_at <= now()) as oldest
    from wants where worker_id is not null or (worker_id is null and due_at is not null)
    group by region_id, kind order by region_id, kind`.execute(on.database.sql);
  const { rows: tasks } = await sql<PlatformBacklog['oldest_tasks'][number] & { created: Date }>`
    select distinct on (region_id) region_id, id as task_id, task_type, client_id, state, created_on as created
    from (
      select * from tasks where state in ('NEW', 'RUNNING') order by created_on, id limit ${MOST_COUNTED}
    ) as unended order by region_id, created_on, id`.execute(on.database.sql);
  return {
    results: parts.map(({ oldest, ...part }) => ({
      ...part,
      backend: on.catalog.backendOf(part.region_id, familyOf(part.kind))?.name ?? null,
      oldest_due_since: oldest?.toISOString() ?? null,
    })),
    oldest_tasks: tasks.map(({ created, ...task }) => ({ ...task, created_on: created.toISOString() })),
  };
}

export async function listChecks({ inspection }: Platform, principal: Principal): Promise<PlatformChecks> {
  refuseOthers(principal);
  return inspection.checks();
}

export async function listOrphans({ inspection }: Platform, principal: Principal): Promise<Orphans> {
  refuseOthers(principal);
  return inspection.orphans();
}
