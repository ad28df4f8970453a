import { Type } from 'typebox';
import type { Dialect } from '../../../../http/dialect.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { presentedPage } from '../../../../lib/page.ts';
import { commonFields } from '../../../../lib/resource-fields.ts';
import { TagsInput } from '../../../../lib/tags.ts';
import { offsetTimestamp } from '../../../../lib/time.ts';
import { versioned } from '../../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../../lib/wire.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { deleteOrWait } from '../../../ground/tasks/behind/service.ts';
import type { SnapshotRow } from './in-transaction.ts';
import * as schema from './schema.ts';
import * as snapshots from './service.ts';

/** Tags of a snapshot as the library under the older Terraform provider sends them: always all of them. */
export const LegacyTags = Type.Unsafe<Record<string, string | null>>({
  ...TagsInput,
  additionalProperties: { type: ['string', 'null'] },
  description: 'Keys and values; keys with null are ignored',
});

export function withoutNulls(tags: Record<string, string | null>): Record<string, string> {
  const set = Object.entries(tags).filter((entry): entry is [string, string] => entry[1] !== null);
  return Object.fromEntries(set);
}

const BASE = '/cloud/v1/snapshots/:project_id/:region_id';
const SNAPSHOT = versioned('snapshot');
const tags = ['Snapshots'];

export function snapshotRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags, params: schema.SnapshotParams });

  api.post(BASE, 'createSnapshot', 'Create a snapshot of a volume', {
    description:
      'Snapshots are only available for volumes of type standard and ssd_hiiops that are available or in use.',
    params: ProjectRegionParams,
    body: schema.CreateSnapshotSchema,
    task: ({ scope, body }) => snapshots.createSnapshot(on, scope, body),
  });

  api.get(BASE, 'listSnapshots', 'List snapshots', {
    params: ProjectRegionParams,
    query: schema.SnapshotListQuery,
    answer: schema.SnapshotList,
    handler: async ({ scope, query }) =>
      presentedPage(await snapshots.listSnapshots(on, scope, query), (row) => presented(row, scope)),
  });

  api.get(`${BASE}/:snapshot_id`, 'getSnapshot', 'Get a snapshot', {
    versioned: SNAPSHOT,
    answer: schema.SnapshotAnswer,
    handler: async ({ scope, params }) => presented(await snapshots.getSnapshot(on, scope, params.snapshot_id), scope),
  });

  api.patch(`${BASE}/:snapshot_id`, 'updateSnapshot', 'Update the name or tags of a snapshot', {
    body: schema.UpdateSnapshotSchema,
    answer: schema.SnapshotAnswer,
    handler: async ({ scope, params, body }) => {
      await snapshots.updateSnapshot(on, scope, params.snapshot_id, body);
      return presented(await snapshots.getSnapshot(on, scope, params.snapshot_id), scope);
    },
  });

  if (dialect.legacy) {
    api.put(`${BASE}/:snapshot_id/metadata`, 'replaceSnapshotMetadata', 'Replace all tags of a snapshot', {
      deprecated: true,
      body: LegacyTags,
      answer: schema.SnapshotAnswer,
      handler: async ({ scope, params, body }) => {
        const { snapshot_id: id } = params;
        await snapshots.replaceSnapshotTags(on, scope, id, withoutNulls(body));
        return presented(await snapshots.getSnapshot(on, scope, id), scope);
      },
    });
  }

  api.delete(`${BASE}/:snapshot_id`, 'deleteSnapshot', 'Delete a snapshot', {
    task: ({ scope, params }) => deleteOrWait(on, scope, snapshots.snapshotDeletion, params.snapshot_id),
  });
}

function presented(row: SnapshotRow, scope: Scope): schema.SnapshotAnswer {
  return {
    size: row.size_gib,
    ...row,
    ...commonFields(row, scope),
    metadata: row.tags,
    updated_at: offsetTimestamp(row.updated_at),
  };
}
