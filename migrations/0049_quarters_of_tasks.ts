import { type Kysely, sql } from 'kysely';
import { takeIndexes } from './0048_quarters_of_user_actions.ts';

/**
 * Tasks are cut into quarters by their IDs, which begin with the time. The existing table becomes the default
 * partition: nothing is copied. It keeps the random IDs of older tasks.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table task_wants drop constraint task_wants_task_fkey`.execute(db);
  // Another table has the name again before anybody else can look.
  await sql`
    -- squawk-ignore renaming-table
    alter table tasks rename to tasks_default`.execute(db);
  await sql`
    create table tasks (like tasks_default including defaults including constraints)
      partition by range (id)`.execute(db);
  await takeIndexes(db, 'tasks');
  // The new table is empty, and its partition has the same constraints, which hold.
  await sql`
    -- squawk-ignore adding-serial-primary-key-field
    alter table tasks add constraint tasks_pkey primary key (id)`.execute(db);
  await sql`
    -- squawk-ignore adding-foreign-key-constraint, constraint-missing-not-valid
    alter table tasks add constraint tasks_client_id_fkey foreign key (client_id) references clients`.execute(db);
  await sql`alter statistics tasks_places rename to tasks_default_places`.execute(db);
  await sql`create statistics tasks_places (dependencies) on client_id, project_id, region_id from tasks`.execute(db);
  await sql`alter table tasks attach partition tasks_default default`.execute(db);
  // Few rows to prove: only what has not ended waits for something.
  await sql`
    -- squawk-ignore adding-foreign-key-constraint, constraint-missing-not-valid
    alter table task_wants add constraint task_wants_task_fkey foreign key (task_id) references tasks on delete cascade`.execute(
    db,
  );
}
