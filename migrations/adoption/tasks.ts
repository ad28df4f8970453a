import { generate } from 'json-merge-patch';
import { type Kysely, sql } from 'kysely';
import { needsOf } from './needs.ts';
import { type Adopted, type Facts, type Old, type Spec, TASK_KINDS } from './task-kinds.ts';

interface Task {
  id: string;
  task_type: string;
  client_id: string;
  project_id: string;
  region_id: string;
  /** As the old engine stored them: the arguments of its only workflow, in superjson. */
  inputs: string | null;
  floating_ips: string[];
  new_nodes: string[];
  old_nodes: string[];
  configuration: Spec | null;
}

interface Want {
  kind: string;
  id: string;
  /** The spec of the row; undefined if there is none. */
  row: Spec | undefined;
  before: Spec | null;
  spec: Spec | null;
  generation: number;
  task: Task;
}

interface Waiting {
  task_id: string;
  kind: string;
  want_id: string;
  generation: number;
  undo: Spec | null;
}

const LOST =
  'The upgrade to a release with another engine ended this task: what it was to do was not found. What it worked on stays as it is';

const ID = /^[0-9a-f-]{36}$/;

/**
 * Continues tasks of the old engine: what they are to reach becomes wanted, and they wait for it. Their
 * deadlines start again, as their work does.
 */
export async function adoptTasks(db: Kysely<unknown>): Promise<void> {
  const tasks = await unendedTasks(db);
  if (tasks.length === 0) return;
  const adopted = await adoptedTasks(db, tasks);
  const { wants, waiting } = planned(adopted.plans, adopted.rows);
  await writeWants(db, wants);
  await sql`
    insert into task_wants (task_id, kind, want_id, generation, undo)
    select * from jsonb_to_recordset(${JSON.stringify(waiting)}::jsonb)
      as waiting (task_id uuid, kind text, want_id uuid, generation bigint, undo jsonb)`.execute(db);
  const inputs = adopted.plans.map(({ task, input }) => ({ id: task.id, input }));
  await sql`
    update tasks set input = adopted.input, deadline_at = now() + (deadline_at - created_on)
    from jsonb_to_recordset(${JSON.stringify(inputs)}::jsonb) as adopted (id uuid, input jsonb)
    where tasks.id = adopted.id`.execute(db);
  const { rows: lost } = await sql<{ id: string }>`
    update tasks set state = 'ERROR', error = ${LOST}, updated_on = now(), finished_on = now()
    where state in ('NEW', 'RUNNING') and input is null returning id`.execute(db);
  await release(
    db,
    lost.map(({ id }) => id),
  );
  // The backend makes them again.
  await sql`
    delete from kubernetes_credentials using wants
    where kind = 'cluster' and id = cluster_id and settled_generation is null`.execute(db);
}

/** How to release what a lost task held: for the new engine, the thing exists as its row says. */
const FREE: Record<string, string> = {
  networks: 'ready = true',
  subnets: 'ready = true',
  ports: '',
  floating_ips: '',
  volumes: `status = case when exists (select from volume_attachments where volume_id = volumes.id)
    then 'in-use' else 'available' end`,
  snapshots: `status = 'available'`,
  images: `status = 'active', size_bytes = coalesce(size_bytes, min_disk_gib * 1073741824::bigint)`,
  file_shares: `status = 'available', connection_point = coalesce(connection_point, '')`,
  instances: `task_state = null, vm_state = case vm_state when 'building' then 'active' else vm_state end,
    status = case vm_state when 'stopped' then 'SHUTOFF' when 'suspended' then 'SUSPENDED' else 'ACTIVE' end`,
  kubernetes_clusters: `status = 'Provisioned', next_configuration = null`,
};

async function release(db: Kysely<unknown>, tasks: readonly string[]): Promise<void> {
  if (tasks.length === 0) return;
  await sql`
    update kubernetes_pools set pending = null from kubernetes_clusters as cluster
    where cluster.id = cluster_id and cluster.task_id = any(${tasks}::uuid[])`.execute(db);
  for (const [table, rest] of Object.entries(FREE)) {
    const free = sql.raw(rest === '' ? 'task_id = null' : `task_id = null, ${rest}`);
    await sql`update ${sql.table(table)} set ${free} where task_id = any(${tasks}::uuid[])`.execute(db);
  }
}

async function unendedTasks(db: Kysely<unknown>): Promise<Task[]> {
  const { rows: found } = await sql<{ there: boolean }>`
    select to_regclass('dbos.workflow_input') is not null as there`.execute(db);
  const nodes = (which: string) => sql`array(
    select id::text from instances where task_id = tasks.id and pool_id is not null and ${sql.raw(which)})`;
  const { rows } = await sql<Task>`
    select id, task_type, client_id, project_id, region_id,
      ${found[0]?.there ? sql`coalesce(kept.inputs, workflow.inputs)` : sql`null`} as inputs,
      array(select id::text from floating_ips where task_id = tasks.id) as floating_ips,
      ${nodes('creator_task_id = task_id')} as new_nodes, ${nodes(`task_state = 'deleting'`)} as old_nodes,
      (select jsonb_strip_nulls(next_configuration) from kubernetes_clusters where task_id = tasks.id) as configuration
    from tasks ${
      found[0]?.there
        ? sql`left join dbos.workflow_status as workflow on workflow_uuid = tasks.id::text
            left join dbos.workflow_input as kept using (workflow_uuid)`
        : sql``
    }
    where state in ('NEW', 'RUNNING') order by created_on, id`.execute(db);
  return rows;
}

type Plan = Adopted & { task: Task };

async function adoptedTasks(
  db: Kysely<unknown>,
  tasks: readonly Task[],
): Promise<{ plans: Plan[]; rows: Map<string, Spec> }> {
  const { rows: wants } = await sql<{ key: string; spec: Spec }>`
    select kind || ':' || id as key, spec from wants
    where project_id = any(${[...new Set(tasks.map((task) => task.project_id))]}::bigint[])`.execute(db);
  const { rows: keys } = await sql<{ id: string; public_key: string }>`
    select id, public_key from ssh_keys
    where project_id in (select project_id from kubernetes_clusters where next_configuration is not null)`.execute(db);
  const rows = new Map(wants.map(({ key, spec }) => [key, spec]));
  const sshKeys = new Map(keys.map(({ id, public_key }) => [id, public_key]));
  const plans = tasks.flatMap((task): Plan[] => {
    const facts: Facts = {
      rows,
      sshKeys,
      floatingIps: task.floating_ips,
      newNodes: task.new_nodes,
      oldNodes: task.old_nodes,
      configuration: task.configuration,
    };
    try {
      return [planOf(task, facts)];
    } catch (error) {
      // A task that can't continue must not block the migration.
      process.emitWarning(`Task ${task.id} (${task.task_type}) of the earlier release is lost: ${error}`);
      return [];
    }
  });
  return { plans, rows };
}

/** @throws Error for a task that can't be understood */
function planOf(task: Task, facts: Facts): Plan {
  const old = inputOf(task);
  const adopt = TASK_KINDS[task.task_type];
  if (old === undefined || !adopt) throw new Error('what it was to do was not found');
  const plan = { ...adopt(old, facts), task };
  for (const { kind, id, before, after } of plan.changes) {
    if (!ID.test(id)) throw new Error(`${kind} ${id} has no id`);
    const row = facts.rows.get(`${kind}:${id}`);
    const former = row && before ? before(row) : (row ?? null);
    after?.(former, row);
  }
  return plan;
}

/** The input is plain JSON, so superjson's extra type information isn't needed. */
function inputOf({ inputs }: Task): Old {
  return inputs === null ? undefined : JSON.parse(inputs)?.json?.[0]?.input;
}

function planned(plans: readonly Plan[], rows: ReadonlyMap<string, Spec>): { wants: Want[]; waiting: Waiting[] } {
  const wants = new Map<string, Want>();
  // First undo all of them: they may affect the same thing.
  for (const { task, changes } of plans) {
    for (const { kind, id, before } of changes) {
      const key = `${kind}:${id}`;
      const row = rows.get(key);
      const want = wants.get(key) ?? { kind, id, row, before: row ?? null, spec: null, generation: 1, task };
      if (want.before && before) want.before = before(want.before);
      wants.set(key, want);
    }
  }
  for (const want of wants.values()) {
    want.spec = want.before;
    want.generation = want.before ? 1 : 0;
  }
  const waiting = plans.flatMap(({ task, changes }) =>
    changes.flatMap(({ kind, id, after }): Waiting[] => {
      const want = wants.get(`${kind}:${id}`);
      if (!want) return [];
      const former = want.spec;
      if (after) want.spec = after(former, want.row);
      want.generation += 1;
      const undo = former && want.spec ? (generate<Spec>(want.spec, former) ?? {}) : former;
      return [{ task_id: task.id, kind, want_id: id, generation: want.generation, undo }];
    }),
  );
  awayFromDoomedPorts(wants, rows, plans);
  return { wants: [...wants.values()], waiting };
}

/** Detaches floating IPs from ports that are to be removed, whose removal would wait for them. */
function awayFromDoomedPorts(wants: Map<string, Want>, rows: ReadonlyMap<string, Spec>, plans: readonly Plan[]): void {
  const [first] = plans;
  if (!first) return;
  for (const [key, row] of rows) {
    if (!key.startsWith('floating_ip:')) continue;
    const known = wants.get(key);
    const { spec = row } = known ?? {};
    const port = spec?.target && wants.get(`port:${spec.target.portId}`);
    if (!port || port.spec !== null) continue;
    const { target: _, ...nowhere } = spec;
    const id = key.slice('floating_ip:'.length);
    const { task, before = row, generation = 1 } = known ?? { task: first.task };
    wants.set(key, { kind: 'floating_ip', id, row, before, spec: nowhere, generation: generation + 1, task });
  }
}

async function writeWants(db: Kysely<unknown>, wants: readonly Want[]): Promise<void> {
  const given = wants
    .filter(({ before, spec }) => before !== null || spec !== null)
    .map(({ kind, id, before, spec, generation, task }) => ({
      kind,
      id,
      before,
      spec,
      generation,
      client_id: task.client_id,
      project_id: task.project_id,
      region_id: task.region_id,
    }));
  const list = sql`jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as given (kind text, id uuid, before jsonb,
    spec jsonb, generation bigint, client_id bigint, project_id bigint, region_id bigint)`;
  await sql`
    insert into wants (kind, id, client_id, project_id, region_id, generation, spec, after, uses, due_at)
    select kind, id, client_id, project_id, region_id, generation, given.spec, needs.after,
      array(select distinct unnest(needs.uses || former.uses)), clock_timestamp()
    from ${list}
    cross join lateral ${needsOf(sql`given.kind`, sql`given.spec`)} as needs
    cross join lateral ${needsOf(sql`given.kind`, sql`given.before`)} as former
    on conflict (kind, id) do update set generation = excluded.generation, spec = excluded.spec, after = excluded.after,
      uses = excluded.uses, due_at = excluded.due_at`.execute(db);
  await sql`
    update wants set settled_generation = null, observed = null from ${list}
    where (wants.kind, wants.id) = (given.kind, given.id) and before is null`.execute(db);
  await sql`
    delete from simulated_objects using ${list}
    where (simulated_objects.kind, simulated_objects.id) = (given.kind, given.id) and before is null`.execute(db);
  await sql`
    update simulated_objects set spec = before from ${list}
    where (simulated_objects.kind, simulated_objects.id) = (given.kind, given.id) and before is not null`.execute(db);
}
