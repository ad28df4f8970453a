import { sql } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { pageByIds } from '../../../db/page.ts';
import type { Page } from '../../../lib/page.ts';
import { periodOf } from '../../../lib/time.ts';
import type { Platform } from '../../../platform.ts';
import type { Principal } from '../../../requests/principal.ts';
import type { RequestListQuery, UserActionListQuery } from './schema.ts';
import * as store from './store.ts';
import { type ListedAction, readActions } from './store.ts';

export type { ListedAction } from './store.ts';

/**
 * Lists the accepted changes of the caller's account, as in the published contract.
 * @throws InvalidError for a time that no calendar has
 */
export const listUserActions = async (
  on: Platform,
  { clientId }: Principal,
  query: UserActionListQuery,
): Promise<Page<store.ListedAction>> => listPublished(on.database.sql, { ...query, ...periodOf(query), clientId });

/** Lists everything recorded for the caller's account. @throws InvalidError for a time that no calendar has */
export async function listRequests(on: Platform, { clientId }: Principal, query: RequestListQuery) {
  // Include refusals not yet written.
  await on.actionLog.flush();
  return store.listRequests(on.database.sql, { ...query, ...periodOf(query), clientId });
}

/** A list query of an account, with parsed times. */
export interface PublishedFilter extends UserActionListQuery {
  clientId: number;
  from: Date | undefined;
  before: Date | undefined;
}

/** Lists the accepted changes in the areas of the published log, with the resource of each. */
export async function listPublished(db: Sql, filter: PublishedFilter): Promise<Page<ListedAction>> {
  return pageByIds(
    (order) => matching(db, filter).select('id').orderBy('timestamp', order).orderBy('id', order),
    { ...filter, direction: filter.order_by ?? filter.sorting ?? 'desc' },
    1_000,
    (ids) => readActions(db, ids),
  );
}

function matching(db: Sql, filter: PublishedFilter) {
  const { clientId } = filter;
  // Needed even if a group is given, because the indexes for this log only contain such rows.
  let actions = db.selectFrom('user_actions').where('client_id', '=', clientId).where('api_group', 'is not', null);
  if (filter.project_id) actions = actions.where('project_id', 'in', filter.project_id);
  if (filter.region_id) actions = actions.where('region_id', 'in', filter.region_id);
  if (filter.api_group) actions = actions.where('api_group', 'in', filter.api_group);
  if (filter.action_type) actions = actions.where('action_type', 'in', filter.action_type);
  if (filter.source_user_ips) actions = actions.where('source_user_ip', 'in', filter.source_user_ips);
  if (filter.user_agents) actions = actions.where('user_agent', 'in', filter.user_agents);
  if (filter.from) actions = actions.where('timestamp', '>=', filter.from);
  if (filter.before) actions = actions.where('timestamp', '<', filter.before);
  const { resource_id: resourceIds, search_field: text } = filter;
  if (resourceIds) actions = actions.where('resource_ids', '&&', sql<string[]>`${resourceIds}::text[]`);
  if (text !== undefined) {
    const pattern = `${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
    actions = actions.where(sql`lower(resource_names[1])`, 'like', pattern);
  }
  return actions;
}
