import { sql } from 'kysely';
import type { Sql } from '../../db/database.ts';

/** Returns by the name of each durable reader how old the first event is that it has not read, in seconds; 0 for none. */
export async function readerLags(db: Sql): Promise<{ name: string; seconds: number }[]> {
  const { rows } = await sql<{ name: string; seconds: number }>`
    select name, greatest(coalesce(extract(epoch from now() - first_unread."time"), 0), 0)::float8 as seconds
    from event_readers left join lateral (
      select "time" from events where events.position > event_readers.position order by events.position limit 1
    ) as first_unread on true
    where active`.execute(db);
  return rows;
}
