import { foundById } from '../../../lib/found.ts';
import type { Page } from '../../../lib/page.ts';
import type { Platform } from '../../../platform.ts';
import type { TagHolder } from '../../ground/metadata/service.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { existingGroups } from '../ports/groups/in-transaction.ts';
import { changeGroup } from './apply-change.ts';
import { removeGroup } from './removal.ts';
import type { GroupListQuery } from './schema.ts';
import * as store from './store.ts';

export const listSecurityGroups = (
  on: Platform,
  scope: Scope,
  query: GroupListQuery,
): Promise<Page<store.SecurityGroupRow>> => store.listGroups(on.database.sql, scope, query);

/** Returns the IDs of those groups that exist in the project and region, in lower case. */
export const knownSecurityGroups = (
  on: Platform,
  scope: Scope,
  ids: string[],
): Promise<ReadonlySet<string>> => on.database.transaction((tx) => existingGroups(tx, scope, ids));

export const securityGroupTags: TagHolder = {
  read: getSecurityGroup,
  async change(on, tx, scope, id, plan) {
    await changeGroup(on, tx, scope, id, ({ tags }) => ({ tags: plan(tags) }));
  },
};

/** @throws NotFoundError, ConflictError for the default group and while ports or rules use the group */
export const deleteSecurityGroup = (on: Platform, scope: Scope, id: string): Promise<void> =>
  on.database.accept((tx) => removeGroup(on, tx, scope, id));

/** @throws NotFoundError */
export async function getSecurityGroup(
  on: Platform,
  scope: Scope,
  id: string,
): Promise<store.SecurityGroupRow> {
  return foundById('Security group', id, () => store.findGroup(on.database.sql, scope, id));
}
