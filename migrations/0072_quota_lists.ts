import { type Kysely, sql } from 'kysely';

/** Quotas apart from the catalogue: for all accounts, those of one reseller, or one; each from a time on. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table quota_lists (
      id bigint generated always as identity constraint quota_lists_pkey primary key,
      scope text not null,
      reseller_id bigint constraint quota_lists_reseller references resellers on delete cascade,
      client_id bigint constraint quota_lists_client references clients on delete cascade,
      -- A full second.
      valid_from timestamptz not null,
      -- By name, and by region and name.
      limits jsonb not null,
      created_by bigint not null constraint quota_lists_maker references users,
      created_at timestamptz not null,
      constraint quota_lists_scope check (
        scope = 'everyone' and reseller_id is null and client_id is null
        or scope = 'reseller' and reseller_id is not null and client_id is null
        or scope = 'client' and reseller_id is null and client_id is not null
      )
    )`.execute(db);
  await sql`create index quota_lists_by_time on quota_lists (valid_from, id)`.execute(db);
  await sql`create index quota_lists_by_scope on quota_lists (scope, valid_from, id)`.execute(db);
  await sql`
    create index quota_lists_of_reseller on quota_lists (reseller_id, valid_from, id)
      where reseller_id is not null`.execute(db);
  await sql`
    create index quota_lists_of_client on quota_lists (client_id, valid_from, id)
      where client_id is not null`.execute(db);
  // In plpgsql, which keeps its plan: it is asked with everything that is made.
  await sql`
    create function listed_quota(client bigint, region bigint, quota text) returns bigint
    language plpgsql stable as $$
    declare
      at timestamptz;
    begin
      -- As usual.
      if not exists (select from quota_lists) then
        return null;
      end if;
      at := tradewind_now();
      return (
        select coalesce(limits -> (region || ' ' || quota), limits -> quota)::bigint
        from (
          (select 1 as rank, limits from quota_lists where client_id = client and valid_from <= at
            order by valid_from desc, id desc limit 1)
          union all
          (select 2, limits from quota_lists
            where reseller_id = (select reseller_id from clients where id = client) and valid_from <= at
            order by valid_from desc, id desc limit 1)
          union all
          (select 3, limits from quota_lists where scope = 'everyone' and valid_from <= at
            order by valid_from desc, id desc limit 1)
        ) as lists
        where limits ?| array[region || ' ' || quota, quota]
        order by rank limit 1
      );
    end $$`.execute(db);
}
