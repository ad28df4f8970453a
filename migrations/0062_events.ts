import { type Kysely, sql } from 'kysely';

/**
 * What happened, as others are told of it: a row for every accepted change and every step of a task, written in the
 * transaction that makes it. Requests write their own; tasks and their steps are written by triggers, whichever release
 * and whatever part of it moves them on.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create sequence events_position`.execute(db);
  // Readers wait for whatever transaction may still write a smaller position, so it needs its number first: an insert
  // may take its defaults before it has one.
  await sql`
    create function next_event_position() returns bigint language plpgsql as $$
    begin
      perform pg_current_xact_id();
      return nextval('events_position');
    end $$`.execute(db);
  // No references: an event outlives what it is about.
  await sql`
    create table events (
      position bigint not null default next_event_position() constraint events_pkey primary key,
      id uuid not null default gen_random_uuid(),
      client_id bigint not null,
      project_id bigint,
      type text not null,
      subject text not null,
      "time" timestamptz not null,
      data jsonb not null
    )`.execute(db);
  await sql`alter sequence events_position owned by events.position`.execute(db);
  await sql`create index events_by_client on events (client_id, position)`.execute(db);
  await sql`create index events_by_subject on events (subject, position)`.execute(db);
  // The last position that was deleted: whoever has not read that far has missed something.
  await sql`create table forgotten_events (position bigint not null)`.execute(db);
  await sql`insert into forgotten_events (position) values (0)`.execute(db);
  await noteRevisions(db);
  await tellOfTasks(db);
  await tellOfProgress(db);
  await tellOfAiTasks(db);
}

/** Transactions note which revisions they made, so that an event can name those before and after it. */
async function noteRevisions(db: Kysely<unknown>): Promise<void> {
  // The text is short: one that changes thousands of rows is about something else than each of them.
  await sql`
    create function note_revision(name text, revision bigint) returns void language plpgsql as $$
    declare
      noted constant text := coalesce(current_setting('tradewind.revisions', true), '');
    begin
      if length(noted) < 4000 then
        perform set_config('tradewind.revisions', noted || name || '=' || revision || ' ', true);
      end if;
    end $$`.execute(db);
  await sql`
    create function noted_revisions(name text) returns jsonb language sql stable as $$
      select case when count(*) > 0 then jsonb_build_object('before', min(number) - 1, 'after', max(number)) end
      from (
        select split_part(one, '=', 2)::bigint as number
        from string_to_table(coalesce(current_setting('tradewind.revisions', true), ''), ' ') as one
        where split_part(one, '=', 1) = name
      ) as noted
    $$`.execute(db);
  await sql`
    create or replace function raise_revision() returns trigger language plpgsql as $$
    begin
      new.revision := old.revision + 1;
      perform note_revision(tg_table_name || ':' || new.id, new.revision);
      return new;
    end $$`.execute(db);
  // Security groups have had a number of their own before.
  await sql`
    create function note_revision_number() returns trigger language plpgsql as $$
    begin
      perform note_revision(tg_table_name || ':' || new.id, new.revision_number);
      return null;
    end $$`.execute(db);
  await sql`
    create trigger note_revision after update on security_groups
      for each row when (new.revision_number > old.revision_number) execute function note_revision_number()`.execute(
    db,
  );
}

async function tellOfTasks(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function tell_of_task() returns trigger language plpgsql as $$
    declare
      verb text;
      steps jsonb;
      verbs constant text[] := case
        when tg_op = 'UPDATE' then array[
          case new.state when 'RUNNING' then 'started' when 'FINISHED' then 'finished' else 'failed' end]
        -- Work that is done in the request itself.
        when new.state = 'FINISHED' then array['created', 'finished']
        else array['created'] end;
    begin
      -- Forgotten by the statement that ends the task.
      if verbs[1] in ('finished', 'failed') then
        select jsonb_agg(jsonb_build_object('kind', kind, 'id', want_id)) into steps
        from (select kind, want_id from task_wants where task_id = new.id order by kind, want_id limit 100) as wanted;
      end if;
      foreach verb in array verbs loop
        insert into events (client_id, project_id, type, subject, "time", data)
        values (new.client_id, new.project_id, 'tradewind.task.' || verb, 'task/' || new.id, tradewind_now(),
          jsonb_build_object(
            'client_id', new.client_id, 'project_id', new.project_id, 'region_id', new.region_id,
            'resources', '[]'::jsonb, 'revision', null,
            'task', jsonb_strip_nulls(jsonb_build_object('id', new.id, 'type', new.task_type,
              'state', case verb when 'created' then 'NEW' else new.state end,
              'created_resources', new.created_resources, 'error', new.error, 'steps', steps)),
            'actor', jsonb_build_object('user_id', new.user_id, 'client_id', new.user_client_id),
            'request_id', new.request_id));
      end loop;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger tell_of_new_task after insert on tasks for each row execute function tell_of_task()`.execute(db);
  await sql`
    create trigger tell_of_task before update of state on tasks
      for each row when (new.state <> old.state) execute function tell_of_task()`.execute(db);
}

async function tellOfProgress(db: Kysely<unknown>): Promise<void> {
  // A task that is just being ended is locked, and needs to be told of no more: its end must come last.
  await sql`
    create function tell_of_progress() returns trigger language plpgsql as $$
    declare
      step jsonb;
      generation_now bigint := old.generation;
    begin
      if tg_op = 'DELETE' then
        step := jsonb_build_object('kind', old.kind, 'id', old.id, 'state', 'removed');
      else
        generation_now := new.generation;
        step := jsonb_strip_nulls(jsonb_build_object('kind', new.kind, 'id', new.id,
          'state', case when new.settled_generation = new.generation then 'done'
            when starts_with(new.doing, 'waiting for ') then 'waiting' else 'doing' end,
          'doing', new.doing, 'failures', nullif(new.failures, 0)));
      end if;
      insert into events (client_id, project_id, type, subject, "time", data)
      select task.client_id, task.project_id, 'tradewind.task.progressed', 'task/' || task.id, tradewind_now(),
        jsonb_build_object(
          'client_id', task.client_id, 'project_id', task.project_id, 'region_id', task.region_id,
          'resources', '[]'::jsonb, 'revision', null,
          'task', jsonb_build_object('id', task.id, 'type', task.task_type, 'state', 'RUNNING', 'step', step,
            'done', steps.done, 'of', steps.total,
            'doing', format('%s: %s of %s', coalesce(step ->> 'doing', replace(old.kind, '_', ' ') || ' is ' ||
              case step ->> 'state' when 'removed' then 'removed' else 'ready' end), steps.done, steps.total)),
          'actor', jsonb_build_object('user_id', task.user_id, 'client_id', task.user_client_id),
          'request_id', task.request_id)
      from (
        select tasks.* from task_wants join tasks on tasks.id = task_id
        where task_wants.kind = old.kind and want_id = old.id and task_wants.generation <= generation_now
          and state in ('NEW', 'RUNNING')
        for key share of tasks skip locked
      ) as task cross join lateral (
        select count(*) filter (where wants.id is null or settled_generation >= each.generation) as done,
          count(*) as total
        from task_wants as each left join wants on wants.kind = each.kind and wants.id = each.want_id
        where each.task_id = task.id
      ) as steps;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger tell_of_progress after update of doing, failures, settled_generation on wants
      for each row when (
        (new.doing is not null and (new.doing is distinct from old.doing or new.failures > old.failures))
        or (new.settled_generation is not null and new.settled_generation is distinct from old.settled_generation))
      execute function tell_of_progress()`.execute(db);
  await sql`
    create trigger tell_of_removal after delete on wants for each row execute function tell_of_progress()`.execute(db);
}

/** The request that cancels one tells of it. */
async function tellOfAiTasks(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function tell_of_ai_task() returns trigger language plpgsql as $$
    begin
      insert into events (client_id, type, subject, "time", data)
      values (new.client_id,
        'tradewind.ai_task.' || case new.status when 'STARTED' then 'started' when 'SUCCESS' then 'finished' else 'failed' end,
        'ai_task/' || new.id, tradewind_now(),
        jsonb_build_object('client_id', new.client_id, 'project_id', null, 'region_id', null,
          'resources', jsonb_build_array(jsonb_build_object('type', 'ai_task', 'id', new.id, 'name', null)),
          'revision', null, 'actor', null, 'request_id', null,
          'task', jsonb_build_object('id', new.id, 'type', new.task_name, 'state', new.status)));
      return null;
    end $$`.execute(db);
  await sql`
    create trigger tell_of_ai_task after update of status on ai_tasks
      for each row when (new.status <> old.status and (
        (new.status = 'STARTED' and old.started_at is null) or new.status in ('SUCCESS', 'FAILURE')))
      execute function tell_of_ai_task()`.execute(db);
}
