import { type Kysely, sql } from 'kysely';

/** What is wanted of infrastructure, and which tasks wait for it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table wants (
      kind text not null,
      id uuid not null,
      client_id bigint not null,
      project_id bigint not null,
      region_id bigint not null,
      -- Rises with every change of the spec.
      generation bigint not null default 1,
      -- Null: it must not exist.
      spec jsonb,
      -- What has to be settled before it is brought about, and what it needs for as long as it is there: 'kind:id'.
      after text[] not null default '{}',
      uses text[] not null default '{}',
      -- The generation that was there last, with what was seen of it.
      settled_generation bigint,
      observed jsonb,
      -- The backend's own name for it.
      handle jsonb,
      doing text,
      -- Since the last one that went well.
      failures integer not null default 0,
      -- When somebody looks after it next; null where nothing is to be done.
      due_at timestamptz,
      -- The worker that is at it.
      worker_id uuid,
      constraint wants_pkey primary key (kind, id),
      constraint wants_settled check (settled_generation <= generation)
    )`.execute(db);
  await sql`create index wants_due on wants (due_at) where worker_id is null and due_at is not null`.execute(db);
  await sql`create index wants_by_worker on wants (worker_id) where worker_id is not null`.execute(db);
  await sql`create index wants_by_place on wants (project_id)`.execute(db);
  // Without a pending list: the request that fills it would pay for all the others.
  await sql`
    create index wants_by_use on wants using gin (uses) with (fastupdate = off) where uses <> '{}'`.execute(db);
  await sql`
    create index wants_by_dependency on wants using gin (after) with (fastupdate = off)
      where after <> '{}' and due_at is not null`.execute(db);
  await sql`
    create table task_wants (
      task_id uuid not null constraint task_wants_task_fkey references tasks on delete cascade,
      kind text not null,
      want_id uuid not null,
      -- The task waits until that generation, or a later one, is there.
      generation bigint not null,
      -- The merge patch that takes the task's change back.
      undo jsonb,
      constraint task_wants_pkey primary key (kind, want_id, task_id)
    )`.execute(db);
  await sql`create index task_wants_by_task on task_wants (task_id)`.execute(db);
  await sql`
    create table want_secrets (
      kind text not null,
      want_id uuid not null,
      name text not null,
      value text not null,
      constraint want_secrets_pkey primary key (kind, want_id, name),
      constraint want_secrets_want_fkey foreign key (kind, want_id) references wants on delete cascade
    )`.execute(db);
  // What the end of the task needs to know.
  await sql`alter table tasks add column input jsonb`.execute(db);
  await sql`
    create table simulated_objects (
      kind text not null,
      id uuid not null,
      spec jsonb not null,
      -- What was begun last, when, and how long it takes.
      doing text not null,
      began_at timestamptz not null,
      takes_ms double precision not null,
      -- Rises with every effect.
      revision bigint not null default 1,
      -- What it made once and answers from then on, such as the certificates of a cluster.
      made jsonb,
      constraint simulated_objects_pkey primary key (kind, id)
    )`.execute(db);
  // Clusters report their own address; simulated ones had none until now.
  await sql`alter table kubernetes_credentials add column endpoint text`.execute(db);
  await sql`update kubernetes_credentials set endpoint = 'https://' || cluster_id || '.k8s.invalid:6443'`.execute(db);
  await sql`alter table kubernetes_credentials alter column endpoint set not null`.execute(db);
}
