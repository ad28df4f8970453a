import type { Dialect } from '../../../http/dialect.ts';
import { goneSignal } from '../../../http/gone-signal.ts';
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
  app.post(BASE, {
    config: { access: 'operate', closedBody: true },
    schema: {
      operationId: 'createFileShare',
      summary: 'Create a file share',
      description:
        'Starts one task. When it is finished, its created_resources has the share in file_shares.',
      tags,
      params: ProjectRegionParams,
      body: CreateFileShare,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, body }) => dialect.tasks([await createFileShare(on, scope, body)]),
  });

  app.get(BASE, {
    config: { access: 'read' },
    schema: {
      operationId: 'listFileShares',
      summary: 'List file shares',
      description: 'Newest first.',
      tags,
      params: ProjectRegionParams,
      querystring: FileShareListQuery,
      response: { 200: FileShareList },
    },
    handler: async ({ scope, query }) =>
      presentedPage(await listFileShares(on, scope, query), (row) => presentedShare(row, scope)),
  });

  app.get(ONE_SHARE, {
    config: { access: 'read', versioned: VERSIONED },
    schema: {
      operationId: 'getFileShare',
      summary: 'Get a file share',
      tags,
      params: FileShareParams,
      response: { 200: FileShareAnswer },
    },
    handler: async ({ scope, params }) =>
      presentedShare(await getFileShare(on, scope, params.file_share_id), scope),
  });

  app.patch(ONE_SHARE, {
    config: { access: 'operate' },
    schema: {
      operationId: 'updateFileShareNow',
      summary: 'Update a file share and wait for completion',
      description: WAIT_TEXT,
      deprecated: true,
      tags,
      params: FileShareParams,
      body: UpdateFileShare,
      response: { 200: FileShareAnswer },
    },
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

  app.patch('/cloud/v3/file_shares/:project_id/:region_id/:file_share_id', {
    config: { access: 'operate', versioned: VERSIONED },
    schema: {
      operationId: 'updateFileShare',
      summary: 'Update a file share',
      description:
        "Returns no task if nothing changes, and under `/gcore` one that is FINISHED. Returns 409 while another task holds the share, and for settings that Slurm in a cluster doesn't support.",
      tags,
      params: FileShareParams,
      body: UpdateFileShare,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) => {
      const task = await updateFileShare(on, scope, params.file_share_id, body, dialect);
      return dialect.tasks(task === undefined ? [] : [task]);
    },
  });

  app.post(`${ONE_SHARE}/extend`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'extendFileShare',
      summary: 'Extend a file share',
      tags,
      params: FileShareParams,
      body: ExtendFileShare,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await extendFileShare(on, scope, params.file_share_id, body.size)]),
  });

  app.delete(ONE_SHARE, {
    config: { access: 'operate' },
    schema: {
      operationId: 'deleteFileShare',
      summary: 'Delete a file share',
      description: 'Returns 409 while a task holds the share, or Slurm in a cluster uses it.',
      tags,
      params: FileShareParams,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params }) =>
      dialect.tasks([await deleteOrWait(on, scope, fileShareDeletion, params.file_share_id)]),
  });
}
