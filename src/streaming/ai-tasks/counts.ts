import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { type AiTaskFilter, matches } from './filter.ts';

export interface Matches {
  count: number;
  /**
   * Set if matches are few and hard to find otherwise: ids of all that match, and perhaps of some that don't.
   */
  candidates: string[] | undefined;
}

/** A count, and the snapshot of the database in which it was made. */
interface Remembered extends Matches {
  snapshot: string;
  usedAt: number;
}

export interface AiTaskCounts {
  /** Returns the exact number of matching tasks. */
  of(filter: AiTaskFilter): Promise<Matches>;
}

const MAX_REMEMBERED = 256;
const MAX_CANDIDATES = 1000;
/** Well below the time for which changes are kept (store.ts). */
const MAX_IDLE_MS = 30 * 60_000;

/**
 * Counts that stay fast with millions of tasks. The cost of counting grows with the number of matches, so a
 * count is remembered together with its snapshot, and the next time only tasks that changed since are
 * counted. The result is as exact as a full count, even while others write: what a snapshot doesn't see is in
 * ai_task_changes, written by the transaction that made the change.
 */
export function createAiTaskCounts(database: Database): AiTaskCounts {
  const known = new Map<string, Remembered>();

  return {
    async of(filter) {
      const key = JSON.stringify(filter);
      const before = known.get(key);
      const fresh = before && performance.now() - before.usedAt < MAX_IDLE_MS;
      const now = (fresh && (await broughtUpToDate(filter, before))) || (await countedAnew(filter));
      known.delete(key);
      known.set(key, now);
      for (const oldest of known.keys()) {
        if (known.size <= MAX_REMEMBERED) break;
        known.delete(oldest);
      }
      return now;
    },
  };

  async function countedAnew(filter: AiTaskFilter): Promise<Remembered> {
    const few = filter.search === undefined ? undefined : await foundFew(filter);
    if (few) return few;
    const usedAt = performance.now();
    const { rows } = await sql<{ count: number; snapshot: string }>`
      select count(*) as count, pg_current_snapshot()::text as snapshot
      from ai_tasks task where ${matches(filter, 'index')}`.execute(database.sql);
    const { count, snapshot } = rows[0] ?? { count: 0, snapshot: '' };
    return { count, snapshot, usedAt, candidates: undefined };
  }

  /** Returns undefined if too many match. The planner plans for all of them, and reading stops early. */
  async function foundFew(filter: AiTaskFilter): Promise<Remembered | undefined> {
    const usedAt = performance.now();
    const { rows } = await sql<{ ids: string[]; snapshot: string }>`
      with hit as materialized (select id from ai_tasks task where ${matches(filter, 'index')})
      select array(select id::text from hit limit ${MAX_CANDIDATES + 1}) as ids,
        pg_current_snapshot()::text as snapshot`.execute(database.sql);
    const { ids, snapshot } = rows[0] ?? { ids: [], snapshot: '' };
    if (ids.length > MAX_CANDIDATES) return undefined;
    return { count: ids.length, snapshot, usedAt, candidates: ids };
  }

  /** Returns undefined if too much has changed. */
  async function broughtUpToDate(filter: AiTaskFilter, before: Remembered): Promise<Remembered | undefined> {
    const usedAt = performance.now();
    const matched = matches(filter, 'row', sql.ref('change.status'));
    const { rows } = await sql<{
      snapshot: string;
      difference: number;
      anew: boolean;
      gained: string[] | null;
    }>`
      select
        pg_current_snapshot()::text as snapshot,
        coalesce(sum(change.sign), 0) as difference,
        coalesce(bool_or(change.task_id is null), false) as anew,
        array_agg(distinct change.task_id::text) filter (where change.sign = 1) as gained
      from ai_task_changes change left join ai_tasks task on task.id = change.task_id
      where change.client_id = ${filter.clientId}
        and change.xid >= pg_snapshot_xmin(${before.snapshot}::pg_snapshot)
        and change.xid < pg_snapshot_xmax(pg_current_snapshot())
        and not pg_visible_in_snapshot(change.xid, ${before.snapshot}::pg_snapshot)
        and (change.task_id is null or ${matched})`.execute(database.sql);
    const changes = rows[0];
    if (!changes || changes.anew) return undefined;
    const candidates = before.candidates && [...new Set([...before.candidates, ...(changes.gained ?? [])])];
    if (candidates && candidates.length > 2 * MAX_CANDIDATES) return undefined;
    return { count: before.count + changes.difference, snapshot: changes.snapshot, usedAt, candidates };
  }
}
