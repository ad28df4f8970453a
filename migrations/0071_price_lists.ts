import { type Kysely, sql } from 'kysely';

/** What accounts pay, apart from the catalogue: for all of them, those of one reseller, or one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table price_lists (
      id bigint generated always as identity constraint price_lists_pkey primary key,
      scope text not null,
      reseller_id bigint constraint price_lists_reseller references resellers on delete cascade,
      client_id bigint constraint price_lists_client references clients on delete cascade,
      -- A full second.
      valid_from timestamptz not null,
      terms jsonb not null,
      created_by bigint not null constraint price_lists_maker references users,
      created_at timestamptz not null,
      constraint price_lists_scope check (
        scope = 'everyone' and reseller_id is null and client_id is null
        or scope = 'reseller' and reseller_id is not null and client_id is null
        or scope = 'client' and reseller_id is null and client_id is not null
      )
    )`.execute(db);
  await sql`create index price_lists_by_time on price_lists (valid_from, id)`.execute(db);
  await sql`create index price_lists_by_scope on price_lists (scope, valid_from, id)`.execute(db);
  await sql`
    create index price_lists_of_reseller on price_lists (reseller_id, valid_from, id)
      where reseller_id is not null`.execute(db);
  await sql`
    create index price_lists_of_client on price_lists (client_id, valid_from, id)
      where client_id is not null`.execute(db);
  await formerResellers(db);
}

/** Keeps which reseller a client had before, so that another one leaves the costs of the past as they were. */
async function formerResellers(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table former_resellers (
      client_id bigint not null constraint former_resellers_client references clients on delete cascade,
      until timestamptz not null,
      reseller_id bigint not null constraint former_resellers_reseller references resellers on delete cascade,
      constraint former_resellers_pkey primary key (client_id, until)
    )`.execute(db);
  await sql`create index former_resellers_of_reseller on former_resellers (reseller_id)`.execute(db);
  await sql`
    create function keep_former_reseller() returns trigger language plpgsql as $$
    begin
      insert into former_resellers (client_id, until, reseller_id)
      values (old.id, date_trunc('second', tradewind_now()), old.reseller_id)
      -- Before that second, it was the first of them.
      on conflict (client_id, until) do nothing;
      perform pg_notify('tradewind_changed', 'prices of client:' || old.id);
      return null;
    end $$`.execute(db);
  await sql`
    create trigger keep_former_reseller after update of reseller_id on clients
      for each row when (old.reseller_id is distinct from new.reseller_id)
      execute function keep_former_reseller()`.execute(db);
}
