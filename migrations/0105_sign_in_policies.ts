import { type Kysely, sql } from 'kysely';

/** What accounts require of their users to sign in. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table sign_in_policies (
      client_id bigint not null constraint sign_in_policies_pkey primary key
        constraint sign_in_policies_client references clients on delete cascade,
      second_factor text not null
        constraint sign_in_policies_second_factor check (second_factor in ('optional', 'required')),
      role_ids integer[]
    )`.execute(db);
  await sql`comment on column sign_in_policies.role_ids is 'Of whom it is required. Null: of everybody.'`.execute(db);
}
