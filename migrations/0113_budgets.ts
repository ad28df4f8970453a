import { type Kysely, sql } from 'kysely';

/** What accounts mean to spend in a month, and what they have spent. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table budgets (
      id bigint generated always as identity constraint budgets_pkey primary key,
      client_id bigint not null constraint budgets_client references clients,
      -- Null for the whole account.
      project_id bigint constraint budgets_project references projects on delete cascade,
      set_by text not null constraint budgets_set_by check (set_by in ('account', 'reseller')),
      amount numeric(20, 2) not null constraint budgets_amount check (amount > 0),
      currency text not null,
      -- Percentages.
      warn_at smallint[] not null,
      stops_creation boolean not null,
      -- The month that was counted. Null before the first count.
      month text,
      spent numeric not null default 0,
      counted_at timestamptz,
      -- The highest of the percentages of which people were told in that month.
      told smallint not null default 0,
      -- When to count again.
      count_at timestamptz not null,
      created_at timestamptz not null,
      revision bigint not null default 1,
      constraint budgets_once unique nulls not distinct (client_id, project_id, set_by)
    )`.execute(db);
  await sql`create index budgets_of_project on budgets (project_id) where project_id is not null`.execute(db);
  await sql`create index budgets_to_count on budgets (count_at)`.execute(db);
  await sql`
    create trigger raise_revision before update on budgets
      for each row execute function raise_revision()`.execute(db);
}
