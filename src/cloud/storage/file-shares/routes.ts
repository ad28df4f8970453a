import type { Dialect } from '../../../http/dialect.ts';
import { goneSignal } from '../../../http/gone-signal.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { versionedIn } from '../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import { WAIT_TEXT, waitForTask } from '../../ground/tasks/service.ts';
import { presentedShare } from './presenter.ts';
import {
  CreateFileShare,
  ExtendFileShare,
  FileShareAnswer,
  FileShareList,
  FileShareListQuery,
  FileShareParams,
  UpdateFileShare,
} from './schema.ts';
import {
  createFileShare,
  extendFileShare,
  fileShareDeletion,
  getFileShare,
  listFileShares,
  updateFileShare,
} from './service.ts';

const BASE = '/cloud/v1/file_shares/:project_id/:region_id';
/** `check_limits` is an operation, not an ID. */
const ONE_SHARE = `${BASE}/:file_share_id(^(?!check_limits$).*$)`;
const VERSIONED = versionedIn('file_shares', 'file_share_id');
const tags = ['File shares'];

export function fileShareRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { tags, params: FileShareParams });

  api.post(BASE, 'createFileShare', 'Create a file share', {
    closedBody: true,
    description: 'Starts one task. When it is finished, its created_resources has the share in file_shares.',
    params: ProjectRegionParams,
    body: CreateFileShare,
    answer: dialect.tasksSchema,
    handler: async ({ scope, body }) => dialect.tasks([await createFileShare(on, scope, body)]),
  });

  api.get(BASE, 'listFileShares', 'List file shares', {
    description: 'Newest first.',
    params: ProjectRegionParams,
    query: FileShareListQuery,
    answer: FileShareList,
    handler: async ({ scope, query }) =>
      presentedPage(await listFileShares(on, scope, query), (row) => presentedShare(row, scope)),
  });

  api.get(ONE_SHARE, 'getFileShare', 'Get a file share', {
    versioned: VERSIONED,
    answer: FileShareAnswer,
    handler: async ({ scope, params }) =>
      presentedShare(await getFileShare(on, scope, params.file_share_id), scope),
  });

  api.patch(ONE_SHARE, 'updateFileShareNow', 'Update a file share and wait for completion', {
    description: WAIT_TEXT,
    deprecated: true,
    body: UpdateFileShare,
    answer: FileShareAnswer,
    handler: async ({ scope, params, body }, reply) => {
      const { file_share_id: id } = params;
      const task = await updateFileShare(on, scope, id, body, { taskAnyway: false });
      if (task)
        await waitForTask(on, task, `File share ${id}`, {
          principal: scope.principal,
          gone: goneSignal(reply),
        });
      return presentedShare(await getFileShare(on, scope, id), scope);
    },
  });

  api.patch(
    '/cloud/v3/file_shares/:project_id/:region_id/:file_share_id',
    'updateFileShare',
    'Update a file share',
    {
      versioned: VERSIONED,
      description:
        "Returns no task if nothing changes, and under `/gcore` one that is FINISHED. Returns 409 while another task holds the share, and for settings that Slurm in a cluster doesn't support.",
      body: UpdateFileShare,
      answer: dialect.tasksSchema,
      handler: async ({ scope, params, body }) => {
        const task = await updateFileShare(on, scope, params.file_share_id, body, dialect);
        return dialect.tasks(task === undefined ? [] : [task]);
      },
    },
  );

  api.post(`${ONE_SHARE}/extend`, 'extendFileShare', 'Extend a file share', {
    body: ExtendFileShare,
    answer: dialect.tasksSchema,
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await extendFileShare(on, scope, params.file_share_id, body.size)]),
  });

  api.delete(ONE_SHARE, 'deleteFileShare', 'Delete a file share', {
    description: 'Returns 409 while a task holds the share, or Slurm in a cluster uses it.',
    answer: dialect.tasksSchema,
    handler: async ({ scope, params }) =>
      dialect.tasks([await deleteOrWait(on, scope, fileShareDeletion, params.file_share_id)]),
  });
}
