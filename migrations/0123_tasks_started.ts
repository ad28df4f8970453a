import { type Kysely, sql } from 'kysely';

/**
 * A worker may finish a task before it has noted that the task began: it does both at the same time. Then the end also tells of the
 * beginning, so that every task that a worker finishes is told of as started. One that fails may never have begun.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function tell_of_task() returns trigger language plpgsql as $$
    declare
      verb text;
      steps jsonb;
      verbs constant text[] := case
        when tg_op = 'UPDATE' then case
          when new.state = 'RUNNING' then array['started']
          when new.state = 'FINISHED' and old.state = 'NEW' then array['started', 'finished']
          when new.state = 'FINISHED' then array['finished']
          else array['failed'] end
        -- Work that is done in the request itself.
        when new.state = 'FINISHED' then array['created', 'finished']
        else array['created'] end;
    begin
      -- Forgotten by the statement that ends the task.
      if tg_op = 'UPDATE' and new.state <> 'RUNNING' then
        select jsonb_agg(jsonb_build_object('kind', kind, 'id', want_id)) into steps
        from (select kind, want_id from task_wants where task_id = new.id order by kind, want_id limit 100) as wanted;
      end if;
      foreach verb in array verbs loop
        insert into events (client_id, project_id, type, subject, "time", data)
        values (new.client_id, new.project_id, 'tradewind.task.' || verb, 'task/' || new.id, tradewind_now(),
          jsonb_build_object(
            'client_id', new.client_id, 'project_id', new.project_id, 'region_id', new.region_id,
            'resources', '[]'::jsonb, 'revision', null,
            'task', jsonb_strip_nulls(jsonb_build_object('id', new.id, 'type', new.task_type) || case
              when verb = 'started' and new.state <> 'RUNNING' then jsonb_build_object('state', 'RUNNING')
              else jsonb_build_object('state', case verb when 'created' then 'NEW' else new.state end,
                'created_resources', new.created_resources, 'error', new.error, 'steps', steps) end),
            'actor', jsonb_build_object('user_id', new.user_id, 'client_id', new.user_client_id),
            'request_id', new.request_id));
      end loop;
      return new;
    end $$`.execute(db);
}
