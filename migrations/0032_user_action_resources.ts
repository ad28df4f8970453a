import { type Kysely, sql } from 'kysely';

/** The published log of user actions: its fields, its filters, and where actions are sent. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Earlier actions have no group and stay out of the published log. Resources are in the row of their
  // action, since a separate table would make every client's change cost half as much again as recording its
  // action.
  await sql`
    alter table user_actions
      add column api_group text,
      add column action_type text,
      add column resource_types text[],
      add column resource_ids text[],
      add column resource_names text[],
      add column acknowledged boolean not null default false,
      add constraint user_actions_kind check ((api_group is null) = (action_type is null)),
      add constraint user_actions_resources check ((api_group is null) = (resource_ids is null))`.execute(db);
  // Counting, and skipping to a late page, only need the index.
  await sql`
    create index user_actions_by_time_and_place on user_actions (client_id, "timestamp" desc, id desc)
      include (api_group, region_id)`.execute(db);
  await sql`drop index user_actions_by_time`.execute(db);
  for (const column of ['api_group', 'action_type', 'source_user_ip', 'user_agent']) {
    await sql`
      create index ${sql.id(`user_actions_by_${column}`)}
        on user_actions (client_id, ${sql.id(column)}, "timestamp" desc, id desc)
        where api_group is not null`.execute(db);
  }
  await sql`
    create index user_actions_by_name
      on user_actions (client_id, lower(resource_names[1]) text_pattern_ops, "timestamp" desc, id desc)
      where api_group is not null`.execute(db);
  // Without a pending list: the request that fills it would pay for all the others.
  await sql`
    create index user_actions_by_resource on user_actions using gin (resource_ids) with (fastupdate = off)
      where api_group is not null`.execute(db);
  await sql`
    create table user_action_subscriptions (
      id bigint generated always as identity constraint user_action_subscriptions_pkey primary key,
      client_id bigint not null constraint user_action_subscriptions_client_fkey references clients,
      url text not null,
      auth_header_name text not null,
      auth_header_value text not null,
      -- Since the last attempt that went well.
      failures integer not null default 0,
      -- When somebody looks next whether there is something to send.
      due_at timestamptz not null,
      -- Nothing from before is left to send.
      sent_until timestamptz not null,
      created_at timestamptz not null,
      constraint user_action_subscriptions_client unique (client_id)
    )`.execute(db);
  await sql`create index user_action_subscriptions_by_time on user_action_subscriptions (due_at)`.execute(db);
}
