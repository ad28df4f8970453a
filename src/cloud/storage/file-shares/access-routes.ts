import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { presentedExceeded } from '../../ground/quotas/schema.ts';
import { addAccessRule, listAccessRules, removeAccessRule } from './access-rules.ts';
import {
  AccessRuleAnswer,
  AccessRuleList,
  AccessRuleListQuery,
  AccessRuleParams,
  CreateAccessRule,
} from './access-schema.ts';
import type { AccessRuleRow } from './access-store.ts';
import { CheckShareLimits, ExceededShareQuotas, FileShareParams } from './schema.ts';
import { fileShareQuotaExceeded } from './service.ts';

const BASE = '/cloud/v1/file_shares/:project_id/:region_id';
const RULES = `${BASE}/:file_share_id/access_rule`;
const tags = ['File shares'];

/** Routes for the access rules of a share, and for the check of quotas. */
export function shareAccessRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, params: FileShareParams });

  api.post(RULES, 'createFileShareAccessRule', 'Add an access rule to a file share', {
    description:
      'Gives an address access to the share. Only for `standard` shares. Returns 409 if the address already has a rule, and while a task holds the share.',
    body: CreateAccessRule,
    answer: AccessRuleAnswer,
    handler: async ({ scope, params, body }) =>
      presentedRule(await addAccessRule(on, scope, params.file_share_id, body)),
  });

  api.get(RULES, 'listFileShareAccessRules', 'List the access rules of a file share', {
    description: 'Oldest first. A `vast` share has none.',
    query: AccessRuleListQuery,
    answer: AccessRuleList,
    handler: async ({ scope, params, query }) =>
      presentedPage(await listAccessRules(on, scope, params.file_share_id, query), presentedRule),
  });

  api.delete(
    `${RULES}/:access_rule_id`,
    'deleteFileShareAccessRule',
    'Delete an access rule of a file share',
    {
      params: AccessRuleParams,
      handler: async ({ scope, params }) => {
        const { file_share_id, access_rule_id } = params;
        await removeAccessRule(on, scope, file_share_id, access_rule_id);
      },
    },
  );

  api.post(`${BASE}/check_limits`, 'checkFileShareLimits', 'Check quotas for a file share', {
    access: 'read',
    onlyAsks: true,
    description:
      'Returns the quotas that another share would exceed. Nothing is reserved. Sizes have no quota.',
    params: ProjectRegionParams,
    body: CheckShareLimits,
    answer: ExceededShareQuotas,
    handler: async ({ scope }) => presentedExceeded(await fileShareQuotaExceeded(on, scope)),
  });
}

function presentedRule({ id, access_to, access_level }: AccessRuleRow): AccessRuleAnswer {
  return { id, access_to, access_level, state: 'active' };
}
