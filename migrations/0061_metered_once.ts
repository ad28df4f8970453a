import { type Kysely, sql } from 'kysely';

/**
 * What was removed and made again may have the same id: a log topic of the same name, an address that a port gets back.
 * If the clock went back meanwhile, or another process has an earlier one, it begins where it ended: no second counts
 * twice. What ended later than now is little, so the index of ended periods finds it at once.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function meter() returns trigger language plpgsql as $$
    declare
      at constant timestamptz := date_trunc('second', tradewind_now());
      since timestamptz;
      former usage_now;
      present usage_now;
    begin
      if tg_op <> 'INSERT' then former := usage_of(old); end if;
      if tg_op <> 'DELETE' then present := usage_of(new); end if;
      if tg_op = 'UPDATE' and row(former.*) is not distinct from row(present.*) then return null; end if;
      if former.resource_id is not null then
        delete from usage_periods where resource_id = former.resource_id and ended_at is null and started_at >= at
        returning started_at into since;
        if not found then
          update usage_periods set ended_at = at where resource_id = former.resource_id and ended_at is null;
        end if;
      end if;
      if present.resource_id is not null and present.amount > 0 then
        insert into usage_periods (client_id, project_id, region_id, type, resource_id, sku, amount, name, tags, details,
          started_at)
        select projects.client_id, present.project_id, present.region_id, present.type, present.resource_id, present.sku,
          present.amount, present.name, present.tags, present.details,
          greatest(coalesce(since, at), (
            select max(ended.ended_at) from usage_periods as ended
            where ended.client_id = projects.client_id and ended.ended_at > at and ended.resource_id = present.resource_id
          ))
        from projects where projects.id = present.project_id;
      end if;
      return null;
    end $$`.execute(db);
}
