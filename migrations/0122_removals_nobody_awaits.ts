import { type Kysely, sql } from 'kysely';

/**
 * Telling of a removal begins with a search for tasks. What is removed at once, such as security groups, has none. Not stable: a task
 * that began to wait while the removal waited for its row is to be seen.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function is_awaited(kind text, id uuid) returns boolean language plpgsql as $$
    begin
      return exists (select from task_wants where task_wants.kind = is_awaited.kind and want_id = is_awaited.id);
    end $$`.execute(db);
  await sql`
    create or replace trigger tell_of_removal after delete on wants
      for each row when (is_awaited(old.kind, old.id)) execute function tell_of_progress()`.execute(db);
}
