import { type Kysely, sql } from 'kysely';

/** What users may do in the cloud: in the whole account, or in single projects. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table role_assignments (
      id bigint generated always as identity constraint role_assignments_pkey primary key,
      client_id bigint not null,
      user_id bigint not null,
      -- Null for the whole account. No reference: who was confined to a project that is gone has no other rights then.
      project_id bigint,
      role text not null constraint role_assignments_role check (
        role in ('ClientAdministrator', 'InternalNetworkOnlyUser', 'Observer', 'ProjectAdministrator', 'User')),
      assigned_by bigint,
      created_at timestamptz not null,
      updated_at timestamptz,
      constraint role_assignments_place check ((role = 'ClientAdministrator') = (project_id is null)),
      constraint role_assignments_member foreign key (client_id, user_id)
        references client_users (client_id, user_id) on delete cascade on update cascade
    )`.execute(db);
  await sql`
    create unique index role_assignments_once on role_assignments (client_id, user_id, project_id) nulls not distinct`.execute(
    db,
  );
  await sql`create index role_assignments_of_project on role_assignments (client_id, project_id, id)`.execute(db);
  await sql`create index role_assignments_of_client on role_assignments (client_id, id)`.execute(db);
}
