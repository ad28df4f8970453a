import { type Kysely, sql } from 'kysely';

/** Accounts that ask their resellers to be deleted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table deletion_requests (
      client_id bigint not null constraint deletion_requests_pkey primary key
        constraint deletion_requests_client references clients on delete cascade,
      user_id bigint not null constraint deletion_requests_user references users,
      reason text not null,
      created_at timestamptz not null
    )`.execute(db);
  // For the reference.
  await sql`create index deletion_requests_of_user on deletion_requests (user_id)`.execute(db);
}
