import type { Dialect } from '../../../../http/dialect.ts';
import type { Api } from '../../../../http/server.ts';
import { presentedPage } from '../../../../lib/page.ts';
import { commonFields } from '../../../../lib/resource-answer.ts';
import { offsetTimestamp } from '../../../../lib/timestamps.ts';
import { versionedIn } from '../../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../../lib/wire.ts';
import type { Platform } from '../../../../platform.ts';
import type { Scope } from '../../../ground/projects/service.ts';
import { deleteOrWait } from '../../../ground/tasks/behind/service.ts';
import { LegacyTags, withoutNulls } from './legacy.ts';
import {
  CreateSnapshotSchema,
  SnapshotAnswer,
  SnapshotList,
  SnapshotListQuery,
  SnapshotParams,
  UpdateSnapshotSchema,
} from './schema.ts';
import {
  createSnapshot,
  getSnapshot,
  listSnapshots,
  replaceSnapshotTags,
  snapshotDeletion,
  updateSnapshot,
} from './service.ts';
import type { SnapshotRow } from './store.ts';

const BASE = '/cloud/v1/snapshots/:project_id/:region_id';
const SNAPSHOT = versionedIn('snapshots', 'snapshot_id');
const tags = ['Snapshots'];

export function snapshotRoutes(app: Api, dialect: Dialect, on: Platform): void {
  app.post(BASE, {
    config: { access: 'operate' },
    schema: {
      operationId: 'createSnapshot',
      summary: 'Create a snapshot of a volume',
      description:
        'Snapshots are only available for volumes of type standard and ssd_hiiops that are available or in use.',
      tags,
      params: ProjectRegionParams,
      body: CreateSnapshotSchema,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, body }) => dialect.tasks([await createSnapshot(on, scope, body)]),
  });

  app.get(BASE, {
    config: { access: 'read' },
    schema: {
      operationId: 'listSnapshots',
      summary: 'List snapshots',
      tags,
      params: ProjectRegionParams,
      querystring: SnapshotListQuery,
      response: { 200: SnapshotList },
    },
    handler: async ({ scope, query }) =>
      presentedPage(await listSnapshots(on, scope, query), (row) => presented(row, scope)),
  });

  app.get(`${BASE}/:snapshot_id`, {
    config: { access: 'read', versioned: SNAPSHOT },
    schema: {
      operationId: 'getSnapshot',
      summary: 'Get a snapshot',
      tags,
      params: SnapshotParams,
      response: { 200: SnapshotAnswer },
    },
    handler: async ({ scope, params }) => presented(await getSnapshot(on, scope, params.snapshot_id), scope),
  });

  app.patch(`${BASE}/:snapshot_id`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'updateSnapshot',
      summary: 'Update the name or tags of a snapshot',
      tags,
      params: SnapshotParams,
      body: UpdateSnapshotSchema,
      response: { 200: SnapshotAnswer },
    },
    handler: async ({ scope, params, body }) => {
      await updateSnapshot(on, scope, params.snapshot_id, body);
      return presented(await getSnapshot(on, scope, params.snapshot_id), scope);
    },
  });

  if (dialect.legacy) {
    app.put(`${BASE}/:snapshot_id/metadata`, {
      config: { access: 'operate' },
      schema: {
        operationId: 'replaceSnapshotMetadata',
        summary: 'Replace all tags of a snapshot',
        deprecated: true,
        tags,
        params: SnapshotParams,
        body: LegacyTags,
        response: { 200: SnapshotAnswer },
      },
      handler: async ({ scope, params, body }) => {
        const { snapshot_id: id } = params;
        await replaceSnapshotTags(on, scope, id, withoutNulls(body));
        return presented(await getSnapshot(on, scope, id), scope);
      },
    });
  }

  app.delete(`${BASE}/:snapshot_id`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'deleteSnapshot',
      summary: 'Delete a snapshot',
      tags,
      params: SnapshotParams,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params }) =>
      dialect.tasks([await deleteOrWait(on, scope, snapshotDeletion, params.snapshot_id)]),
  });
}

function presented(row: SnapshotRow, scope: Scope): SnapshotAnswer {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    volume_id: row.volume_id,
    size: row.size_gib,
    status: row.status,
    ...commonFields(row, scope),
    metadata: row.tags,
    updated_at: offsetTimestamp(row.updated_at),
  };
}
