import { type Kysely, sql } from 'kysely';

/**
 * Events of dry runs are never told, so they take no position among the others: readers would wait at the gap until the dry run is
 * over. The previous release doesn't mark its dry runs, and its readers wait as before.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create sequence tried_events_position`.execute(db);
  await sql`
    create or replace function next_event_position() returns bigint language plpgsql as $$
    begin
      if current_setting('tradewind.dry_run', true) = 'on' then
        return -nextval('tried_events_position');
      end if;
      perform pg_current_xact_id();
      return nextval('events_position');
    end $$`.execute(db);
}
