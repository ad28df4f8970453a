import { violates } from '../../../db/database.ts';
import { addressOrRange } from '../../../lib/cidr.ts';
import { ConflictError, InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { found, isUuid, newId } from '../../../lib/ids.ts';
import type { Page, PageQuery } from '../../../lib/page.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { wantChecked } from '../../ground/tasks/service.ts';
import { type CreateAccessRule, MAX_ACCESS_RULES } from './schema.ts';
import { getFileShare, lockFree } from './service.ts';
import type { FileShareRow } from './store.ts';
import * as store from './store.ts';
import { letIn, shutOut } from './tasks.ts';

/**
 * @throws NotFoundError, InvalidError for a bad address or a VAST share, ConflictError while a task holds the share,
 * for an address that has a rule already, and when the share has the most rules
 */
export async function addAccessRule(
  on: Platform,
  scope: Scope,
  shareId: string,
  { ip_address, access_mode }: CreateAccessRule,
): Promise<store.AccessRuleRow> {
  const found = addressOrRange(ip_address);
  if ('fault' in found) throw new InvalidError({ ip_address: [found.fault] });
  const { address } = found;
  const rule = { id: newId(), access_to: address, access_level: access_mode, created_at: on.clock.now() };
  try {
    return await on.database.accept(async (tx) => {
      const share = await lockFree(tx, scope, shareId);
      if (share.type_name === 'vast') throw withoutRules(share);
      if ((await store.countRules(tx, share.id)) >= MAX_ACCESS_RULES) throw full(share);
      await store.insertRules(tx, [{ ...rule, file_share_id: share.id }]);
      await wantChecked(on, tx, scope, [letIn(share.id, rule)]);
      return { ...rule, file_share_id: share.id };
    });
  } catch (error) {
    if (!violates(error, 'file_share_access_rules_address')) throw error;
    throw new ConflictError(
      `File share ${shareId} already has an access rule for ${address}; delete that rule to change it`,
    );
  }
}

/** Returns none for a VAST share. @throws NotFoundError */
export async function listAccessRules(
  on: Platform,
  scope: Scope,
  shareId: string,
  page: PageQuery,
): Promise<Page<store.AccessRuleRow>> {
  const share = await getFileShare(on, scope, shareId);
  return store.listRules(on.database.sql, share.id, page);
}

/** @throws NotFoundError for the share or the rule, ConflictError while a task holds the share */
export async function removeAccessRule(on: Platform, scope: Scope, shareId: string, ruleId: string): Promise<void> {
  await on.database.accept(async (tx) => {
    const share = await lockFree(tx, scope, shareId);
    if (!isUuid(ruleId)) throw new NotFoundError('Access rule', ruleId);
    const rule = found('Access rule', ruleId, await store.deleteRule(tx, share.id, ruleId));
    await wantChecked(on, tx, scope, [shutOut(share.id, rule.id)]);
  });
}

function withoutRules({ name }: FileShareRow): InvalidError {
  const message = `File share ${name} is of type vast, which has no access rules: everyone who can reach its network has access.`;
  return new InvalidError({ file_share_id: [message] });
}

function full({ name }: FileShareRow): ConflictError {
  return new ConflictError(
    `File share ${name} already has ${MAX_ACCESS_RULES} access rules, the maximum; delete one first`,
  );
}
