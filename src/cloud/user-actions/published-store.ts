import { sql } from 'kysely';
import type { Sql } from '../../db/database.ts';
import { pageWithCount } from '../../db/page.ts';
import type { Page } from '../../lib/page.ts';
import type { ActionType, ApiGroup } from './published-names.ts';
import { type ListedAction, withEmails } from './store.ts';

export interface PublishedFilter {
  clientId: number;
  projectIds?: number[] | undefined;
  regionIds?: number[] | undefined;
  groups?: ApiGroup[] | undefined;
  types?: ActionType[] | undefined;
  resourceIds?: string[] | undefined;
  /** Begins so, in any letter case. */
  text?: string | undefined;
  sourceIps?: string[] | undefined;
  userAgents?: string[] | undefined;
  from?: Date | undefined;
  before?: Date | undefined;
  order: 'asc' | 'desc';
  limit: number;
  offset: number;
}

/** Of accepted changes in the areas that the published log knows, with what each is about. */
export async function listPublished(db: Sql, filter: PublishedFilter): Promise<Page<ListedAction>> {
  const { order } = filter;
  // By their ids, which indexes have: a late page skips a great many.
  const page = await pageWithCount(
    matching(db, filter).select('id').orderBy('timestamp', order).orderBy('id', order),
    filter,
  );
  const ids = page.rows.map(({ id }) => id);
  if (ids.length === 0) return { count: page.count, rows: [] };
  const rows = await db
    .selectFrom('user_actions')
    .selectAll()
    .where('id', 'in', ids)
    .orderBy('timestamp', order)
    .orderBy('id', order)
    .execute();
  return { count: page.count, rows: await withEmails(db, rows) };
}

function matching(db: Sql, filter: PublishedFilter) {
  const { clientId } = filter;
  // Said also where a group is asked for: indexes of this log have only such rows.
  let actions = db
    .selectFrom('user_actions')
    .where('client_id', '=', clientId)
    .where('api_group', 'is not', null);
  if (filter.projectIds) actions = actions.where('project_id', 'in', filter.projectIds);
  if (filter.regionIds) actions = actions.where('region_id', 'in', filter.regionIds);
  if (filter.groups) actions = actions.where('api_group', 'in', filter.groups);
  if (filter.types) actions = actions.where('action_type', 'in', filter.types);
  if (filter.sourceIps) actions = actions.where('source_user_ip', 'in', filter.sourceIps);
  if (filter.userAgents) actions = actions.where('user_agent', 'in', filter.userAgents);
  if (filter.from) actions = actions.where('timestamp', '>=', filter.from);
  if (filter.before) actions = actions.where('timestamp', '<', filter.before);
  const { resourceIds, text } = filter;
  if (resourceIds) actions = actions.where('resource_ids', '&&', sql<string[]>`${resourceIds}::text[]`);
  if (text !== undefined) {
    const pattern = `${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
    actions = actions.where(sql`lower(resource_names[1])`, 'like', pattern);
  }
  return actions;
}
