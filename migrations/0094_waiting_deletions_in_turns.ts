import { type Kysely, sql } from 'kysely';

const INDEXES = [
  'unique index waiting_deletions_of_thing on waiting_deletions (project_id, region_id, kind, thing)',
  'index waiting_deletions_of_account on waiting_deletions (client_id, project_id)',
  // What may be tried, in the order of an account.
  'index waiting_deletions_due on waiting_deletions (client_id, task_id) where worker_id is null and due_at is not null',
  'index waiting_deletions_claimed on waiting_deletions (client_id) where worker_id is not null',
];

/**
 * Accounts take turns with their waiting deletions, and each thing waits once, whatever the options of its deletion. The lint
 * doesn't know that no release has used the table yet: nobody is blocked, and nobody reads `due_at`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table waiting_deletions
      add column client_id bigint,
      add column thing text,
      add column in_use boolean not null default false`.execute(db);
  await sql`
    -- squawk-ignore ban-drop-not-null
    alter table waiting_deletions alter column due_at drop not null`.execute(db);
  await sql`
    update waiting_deletions set client_id = tasks.client_id from tasks where tasks.id = task_id`.execute(db);
  await sql`
    -- squawk-ignore require-concurrent-index-deletion
    drop index waiting_deletions_once`.execute(db);
  for (const index of INDEXES) {
    await sql`
      -- squawk-ignore require-concurrent-index-creation
      create ${sql.raw(index)}`.execute(db);
  }
}
