import { createHash } from 'node:crypto';
import type { Dialect } from '../../../http/dialect.ts';
import { goneSignal } from '../../../http/gone-signal.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { commonFields } from '../../../lib/resource-fields.ts';
import { microsWithoutZone } from '../../../lib/time.ts';
import { versioned } from '../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { tagRoutes } from '../../ground/metadata/routes.ts';
import { presentedExceeded } from '../../ground/quotas/schema.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import { WAIT_TEXT, waitForTask } from '../../ground/tasks/service.ts';
import { addAccessRule, listAccessRules, removeAccessRule } from './access-rules.ts';
import * as schema from './schema.ts';
import * as fileShares from './service.ts';
import type { AccessRuleRow, FileShareRow } from './store.ts';

/**
 * The network that a VAST share shows. It doesn't belong to the project: clients reach the storage of a region through
 * a network of the platform. As clients expect UUIDs, the network has one, which never changes.
 */
export function vastNetwork(regionId: number) {
  return {
    network_id: uuidFor(`network of VAST shares in region ${regionId}`),
    network_name: 'vast',
    subnet_id: uuidFor(`subnet of VAST shares in region ${regionId}`),
    subnet_name: 'vast',
  };
}

/** Makes a UUID from a text. It has the bits of version 4, which some clients check. */
function uuidFor(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return parts.join('-');
}

export function presentedShare(row: FileShareRow, scope: Scope): schema.FileShareAnswer {
  const network = networkOf(row);
  return {
    size: row.size_gib,
    ...row,
    volume_type: schema.VOLUME_TYPES[row.type_name],
    share_settings: settingsOf(row),
    ...network,
    network,
    share_network_name: row.type_name === 'vast' ? null : `file-share-${row.id}`,
    ...commonFields(row, scope),
    metadata: row.tags,
    created_at: microsWithoutZone(row.created_at),
  };
}

function networkOf(row: FileShareRow): schema.FileShareAnswer['network'] {
  const { network_id, network_name, subnet_id, subnet_name } = row;
  // All four are set for a standard share.
  if (network_id === null || subnet_id === null) return vastNetwork(row.region_id);
  return { network_id, network_name: network_name ?? '', subnet_id, subnet_name: subnet_name ?? '' };
}

function settingsOf(row: FileShareRow): schema.FileShareAnswer['share_settings'] {
  if (row.type_name === 'standard') return { type_name: 'standard' };
  return {
    type_name: 'vast',
    allowed_characters: row.allowed_characters,
    path_length: row.path_length,
    root_squash: row.root_squash ?? true,
    trash_access: false,
  };
}

const BASE = '/cloud/v1/file_shares/:project_id/:region_id';
/** `check_limits` is an operation, not an ID. */
const ONE_SHARE = `${BASE}/:file_share_id(^(?!check_limits$).*$)`;
const VERSIONED = versioned('file_shares');
const tags = ['File shares'];

export function fileShareRoutes(app: Api, dialect: Dialect, on: Platform): void {
  tagRoutes(app, on, 'file_shares', fileShares.fileShareTags);
  const api = operations(app, { dialect, tags, params: schema.FileShareParams });

  api.post(BASE, 'createFileShare', 'Create a file share', {
    closedBody: true,
    description: 'Starts one task. When it is finished, its created_resources has the share in file_shares.',
    params: ProjectRegionParams,
    body: schema.CreateFileShare,
    task: ({ scope, body }) => fileShares.createFileShare(on, scope, body),
  });

  api.get(BASE, 'listFileShares', 'List file shares', {
    description: 'Newest first.',
    params: ProjectRegionParams,
    query: schema.FileShareListQuery,
    answer: schema.FileShareList,
    handler: async ({ scope, query }) =>
      presentedPage(await fileShares.listFileShares(on, scope, query), (row) => presentedShare(row, scope)),
  });

  api.get(ONE_SHARE, 'getFileShare', 'Get a file share', {
    versioned: VERSIONED,
    answer: schema.FileShareAnswer,
    handler: async ({ scope, params }) =>
      presentedShare(await fileShares.getFileShare(on, scope, params.file_share_id), scope),
  });

  api.patch(ONE_SHARE, 'updateFileShareNow', 'Update a file share and wait for completion', {
    description: WAIT_TEXT,
    deprecated: true,
    body: schema.UpdateFileShare,
    answer: schema.FileShareAnswer,
    handler: async ({ scope, params, body }, reply) => {
      const { file_share_id: id } = params;
      const task = await fileShares.updateFileShare(on, scope, id, body, { taskAnyway: false });
      if (task)
        await waitForTask(on, task, `File share ${id}`, {
          principal: scope.principal,
          gone: goneSignal(reply),
        });
      return presentedShare(await fileShares.getFileShare(on, scope, id), scope);
    },
  });

  api.patch('/cloud/v3/file_shares/:project_id/:region_id/:file_share_id', 'updateFileShare', 'Update a file share', {
    versioned: VERSIONED,
    description:
      "Returns no task if nothing changes, and under `/gcore` one that is FINISHED. Returns 409 while another task holds the share, and for settings that Slurm in a cluster doesn't support.",
    body: schema.UpdateFileShare,
    task: ({ scope, params, body }) => fileShares.updateFileShare(on, scope, params.file_share_id, body, dialect),
  });

  api.post(`${ONE_SHARE}/extend`, 'extendFileShare', 'Extend a file share', {
    body: schema.ExtendFileShare,
    task: ({ scope, params, body }) => fileShares.extendFileShare(on, scope, params.file_share_id, body.size),
  });

  api.delete(ONE_SHARE, 'deleteFileShare', 'Delete a file share', {
    description: 'Returns 409 while a task holds the share, or Slurm in a cluster uses it.',
    task: ({ scope, params }) => deleteOrWait(on, scope, fileShares.fileShareDeletion, params.file_share_id),
  });
}

const RULES = `${BASE}/:file_share_id/access_rule`;

/** Routes for the access rules of a share, and for the check of quotas. */
export function shareAccessRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, params: schema.FileShareParams });

  api.post(RULES, 'createFileShareAccessRule', 'Add an access rule to a file share', {
    description:
      'Gives an address access to the share. Only for `standard` shares. Returns 409 if the address already has a rule, and while a task holds the share.',
    body: schema.CreateAccessRule,
    answer: schema.AccessRuleAnswer,
    handler: async ({ scope, params, body }) =>
      presentedRule(await addAccessRule(on, scope, params.file_share_id, body)),
  });

  api.get(RULES, 'listFileShareAccessRules', 'List the access rules of a file share', {
    description: 'Oldest first. A `vast` share has none.',
    query: schema.AccessRuleListQuery,
    answer: schema.AccessRuleList,
    handler: async ({ scope, params, query }) =>
      presentedPage(await listAccessRules(on, scope, params.file_share_id, query), presentedRule),
  });

  api.delete(`${RULES}/:access_rule_id`, 'deleteFileShareAccessRule', 'Delete an access rule of a file share', {
    params: schema.AccessRuleParams,
    handler: async ({ scope, params }) => {
      const { file_share_id, access_rule_id } = params;
      await removeAccessRule(on, scope, file_share_id, access_rule_id);
    },
  });

  api.post(`${BASE}/check_limits`, 'checkFileShareLimits', 'Check quotas for a file share', {
    access: 'read',
    onlyAsks: true,
    description: 'Returns the quotas that another share would exceed. Nothing is reserved. Sizes have no quota.',
    params: ProjectRegionParams,
    body: schema.CheckShareLimits,
    answer: schema.ExceededShareQuotas,
    handler: async ({ scope }) => presentedExceeded(await fileShares.fileShareQuotaExceeded(on, scope)),
  });
}

function presentedRule({ id, access_to, access_level }: AccessRuleRow): schema.AccessRuleAnswer {
  return { id, access_to, access_level, state: 'active' };
}
