import { periodOf } from '../../../lib/calendar-time.ts';
import type { Page } from '../../../lib/page.ts';
import type { Platform } from '../../../platform.ts';
import type { Principal } from '../../../requests/principal.ts';
import * as published from './published-store.ts';
import type { RequestListQuery, UserActionListQuery } from './schema.ts';
import * as store from './store.ts';

export type { ListedAction } from './store.ts';

/**
 * Lists the accepted changes of the caller's account, as in the published contract.
 * @throws InvalidError for a time that no calendar has
 */
export const listUserActions = async (
  on: Platform,
  { clientId }: Principal,
  query: UserActionListQuery,
): Promise<Page<store.ListedAction>> =>
  published.listPublished(on.database.sql, { ...query, ...periodOf(query), clientId });

/** Lists everything recorded for the caller's account. @throws InvalidError for a time that no calendar has */
export async function listRequests(
  on: Platform,
  { clientId }: Principal,
  query: RequestListQuery,
): Promise<Page<store.ListedAction>> {
  // Include refusals not yet written.
  await on.actionLog.flush();
  return store.listRequests(on.database.sql, { ...query, ...periodOf(query), clientId });
}
