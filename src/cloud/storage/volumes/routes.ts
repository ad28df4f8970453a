import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { versioned } from '../../../lib/versioned.ts';
import { idsOf, ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import { presentedVolume } from './presenter.ts';
import * as schema from './schema.ts';
import { createVolume, getVolume, listVolumes, volumeDeletion } from './service.ts';

const BASE = '/cloud/v1/volumes/:project_id/:region_id';
const tags = ['Volumes'];
export const VOLUME = versioned('volume');

export function volumeRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags, params: ProjectRegionParams });

  api.post(BASE, 'createVolume', 'Create a volume', {
    description: 'Creates an empty volume, or one from an image or a snapshot. A volume from a snapshot gets its size.',
    body: schema.CreateVolumeSchema,
    task: ({ scope, body }) => createVolume(on, scope, body),
  });

  api.get(BASE, 'listVolumes', 'List volumes', {
    query: schema.VolumeListQuery,
    answer: schema.VolumeList,
    handler: async ({ scope, query }) =>
      presentedPage(await listVolumes(on, scope, query), (row) => presentedVolume(row, scope)),
  });

  api.get(`${BASE}/:volume_id`, 'getVolume', 'Get a volume', {
    versioned: VOLUME,
    params: schema.VolumeParams,
    answer: schema.VolumeAnswer,
    handler: async ({ scope, params }) => presentedVolume(await getVolume(on, scope, params.volume_id), scope),
  });

  api.delete(`${BASE}/:volume_id`, 'deleteVolume', 'Delete a volume', {
    description: 'The volume must be available. Its snapshots must be listed in the request, or deleted first.',
    params: schema.VolumeParams,
    query: schema.DeleteVolumeQuery,
    task: ({ scope, params, query }) =>
      deleteOrWait(on, scope, volumeDeletion, params.volume_id, idsOf(query.snapshots)),
  });
}
